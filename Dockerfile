# Clerk as a container: `docker build -t clerk .`; compose.yaml says what runs of it.
FROM python:3.11-slim-bookworm AS build

# Optional parts: `--build-arg EXTRAS=[s3,sentry]`.
ARG EXTRAS=""
WORKDIR /src
COPY requirements.txt constraints.txt ./
RUN python -m venv /opt/clerk \
    && /opt/clerk/bin/pip install --no-cache-dir --no-compile -r requirements.txt
COPY pyproject.toml setup.py README.md LICENSE ./
COPY clerk_project clerk_project
COPY pipeline pipeline
COPY records records
COPY sites sites
COPY templates templates
RUN /opt/clerk/bin/pip install --no-cache-dir -c constraints.txt ".${EXTRAS}"

FROM python:3.11-slim-bookworm

# Debian's own versions, as they are on the day of the build.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tesseract-ocr tesseract-ocr-osd \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 clerk \
    && useradd --system --uid 10001 --gid clerk --home-dir /srv/clerk --shell /usr/sbin/nologin clerk \
    && install -d -o clerk -g clerk -m 750 /srv/clerk
COPY --from=build /opt/clerk /opt/clerk
ENV PATH=/opt/clerk/bin:$PATH \
    CLERK_HOME=/srv/clerk \
    OMP_THREAD_LIMIT=1 \
    PYTHONUNBUFFERED=1
WORKDIR /srv/clerk
VOLUME /srv/clerk
USER 10001:10001
EXPOSE 8000
ENTRYPOINT ["clerk"]
CMD ["--version"]

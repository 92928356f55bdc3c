"""A big database in seconds: sites, documents, runs and a ledger of plausible shape, made by SQL alone."""

from django.db import connection

DOCUMENTS_A_SITE = 36
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"

# Of every 20 sites 17 are completed; one is in OCR, one in extraction, one has never run.
SITES = """
INSERT INTO sites (subdomain, name, state, kind, current_stage, started_at, updated_at, run_id,
    last_completed_at, fetch_total, fetch_completed, ocr_total, ocr_completed, ocr_failed,
    extraction_total, extraction_completed, attention_reason, languages, time_zone, pause_reason)
{numbers}
SELECT 'city' || i || '.ca', 'City of ' || i, 'CA', 'city',
    CASE i % 20 WHEN 0 THEN NULL WHEN 1 THEN 'ocr' WHEN 2 THEN 'extraction' ELSE 'completed' END,
    {ago_i}, {ago_i}, CASE i % 20 WHEN 0 THEN NULL ELSE 3 * i END,
    CASE WHEN i % 20 > 2 THEN {ago_i} END,
    34, 34, 33, 30, 2, 33, CASE WHEN i % 20 > 2 THEN 33 ELSE 5 END,
    CASE WHEN i % 500 = 1 THEN 'recovered three times without progress' ELSE '' END, 'eng', '', ''
FROM n
"""
DOCUMENTS = """
INSERT INTO documents (id, subdomain, external_id, meeting, meeting_date, kind, path, created_at, title)
{numbers}
SELECT i, 'city' || (1 + i / {each}) || '.ca', 'doc' || i, 'CityCouncil', {day},
    CASE i % 3 WHEN 0 THEN 'agenda' ELSE 'minutes' END, 'pdfs/CityCouncil/' || i || '.pdf', {now},
    'Regular meeting ' || i
FROM n WHERE i / {each} < {sites}
"""
RUNS = """
INSERT INTO runs (id, subdomain, status, started_at, finished_at, started_by, message)
{numbers}
SELECT i, 'city' || ((i + 2) / 3) || '.ca',
    CASE WHEN i % 3 = 0 AND (i / 3) % 20 IN (1, 2) THEN 'running' ELSE 'completed' END, {ago_i},
    CASE WHEN i % 3 = 0 AND (i / 3) % 20 IN (1, 2) THEN NULL ELSE {ago_i} END, 'cron', 'completed'
FROM n
"""
RUN_STAGES = """
INSERT INTO run_stages (run_id, stage, opened_at, finished_at, total, completed, failed)
SELECT runs.id, stage, started_at, {later}, 33, 31, 2
FROM runs CROSS JOIN (SELECT 'fetch' AS stage UNION ALL SELECT 'ocr' UNION ALL SELECT 'compilation'
    UNION ALL SELECT 'extraction' UNION ALL SELECT 'deploy') AS stages
"""
LEDGER = """
INSERT INTO document_pipeline_state (subdomain, document_id, pipeline, unit, status, attempt_count,
    error_code, error_message, last_attempt_at, retry_at, processed_at, created_at, updated_at, run_id, facts)
SELECT d.subdomain, d.id, '{stage}', '', s.status, 1,
    CASE WHEN s.status LIKE 'failed%' THEN
        CASE d.id % 4 WHEN 0 THEN 'timeout' WHEN 1 THEN 'http_404' ELSE 'corrupt' END END,
    CASE WHEN s.status LIKE 'failed%' THEN 'DocumentError: this PDF is broken' END,
    {ago_d}, CASE WHEN s.status = 'failed_retryable' THEN {soon} END,
    CASE WHEN s.status = 'processed' THEN {ago_d} END, {ago_d}, {ago_d}, 3 * (1 + d.id / {each}), '{facts}'
FROM documents d JOIN (SELECT id, CASE WHEN id % 25 = {unlucky} THEN 'failed_terminal'
    WHEN id % 400 = {unlucky} + 1 THEN 'failed_retryable' WHEN id % 700 = {unlucky} + 2 THEN 'in_progress'
    WHEN id % 50 = {unlucky} + 3 THEN 'pending' ELSE 'processed' END AS status FROM documents) s
ON s.id = d.id
WHERE '{after}' = '' OR EXISTS (SELECT 1 FROM document_pipeline_state p
    WHERE p.document_id = d.id AND p.pipeline = '{after}' AND p.status = 'processed')
"""
UNITS = """
INSERT INTO document_pipeline_state (subdomain, pipeline, unit, status, attempt_count, last_attempt_at,
    processed_at, created_at, updated_at, run_id, facts)
SELECT subdomain, '{stage}', 'site', 'processed', 1, updated_at, updated_at, updated_at, updated_at, run_id,
    '{facts}' FROM sites
"""
FACTS = '{"pages": 12, "characters": 24000, "seconds": 3.2}'


def make(sites: int = 10_000) -> int:
    """Fill an empty database; the number of ledger rows."""
    postgres = connection.vendor == "postgresql"
    words = _postgres_words() if postgres else _sqlite_words()
    words |= {"each": str(DOCUMENTS_A_SITE), "sites": str(sites), "facts": FACTS}
    documents = sites * DOCUMENTS_A_SITE
    statements = [
        _fill(SITES, words, sites),
        _fill(DOCUMENTS, words, documents - 1),
        _fill(RUNS, words, 3 * sites),
        _fill(RUN_STAGES, words),
        *(
            _fill(LEDGER, {**words, "stage": stage, "after": after, "unlucky": str(number)})
            for number, stage, after in _STAGES
        ),
        *(_fill(UNITS, {**words, "stage": stage}) for stage in ("compilation", "deploy")),
        "ANALYZE",
    ]
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        if postgres:
            # As autovacuum would have done by the time a real database is this big.
            cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT count(*) FROM document_pipeline_state")
        return int(cursor.fetchone()[0])


_STAGES = ((1, "fetch", ""), (7, "ocr", "fetch"), (13, "extraction", "ocr"))


def _fill(statement: str, words: dict[str, str], count: int = 0) -> str:
    return statement.format(numbers=NUMBERS.format(count=count), **words)


def _postgres_words() -> dict[str, str]:
    return {
        "now": "now()",
        "soon": "now() + interval '10 minutes'",
        "later": "finished_at + interval '90 seconds'",
        "day": "current_date - i % 3000",
        "ago_i": "now() - (i % 86400) * interval '1 minute'",
        "ago_d": "now() - (d.id % 86400) * interval '1 minute'",
    }


def _sqlite_words() -> dict[str, str]:
    return {
        "now": "datetime('now')",
        "soon": "datetime('now', '+10 minutes')",
        "later": "datetime(finished_at, '+90 seconds')",
        "day": "date('now', '-' || (i % 3000) || ' days')",
        "ago_i": "datetime('now', '-' || (i % 86400) || ' minutes')",
        "ago_d": "datetime('now', '-' || (d.id % 86400) || ' minutes')",
    }

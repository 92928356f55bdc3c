"""Pages of other servers may read the API: it knows nobody by cookie there, so there is nothing to steal."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

PREFIX = "/api/"
DAY_SECONDS = 24 * 60 * 60


class Cors:
    """Middleware, first of all: a browser's question before the question is answered without a session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(PREFIX):
            return self.get_response(request)
        asks_first = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        response = HttpResponse(status=204) if asks_first else self.get_response(request)
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = "ETag, Retry-After"
        if asks_first:
            response["Access-Control-Allow-Methods"] = "GET, HEAD, OPTIONS"
            response["Access-Control-Allow-Headers"] = "Authorization, If-None-Match"
            response["Access-Control-Max-Age"] = str(DAY_SECONDS)
        return response

"""A remote data source could not be reached."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_ERRORS = (
    r"URLError|HTTPError|gaierror|ConnectTimeout|ReadTimeout|SSLError|EndpointConnectionError|ProxyError|"
    r"RemoteDisconnected|IncompleteRead|ContentTooShortError|ChunkedEncodingError|ServiceUnavailable|"
    r"LocalEntryNotFoundError"
)
MESSAGES = compiled(
    r"URL fetch failure on (?P<url>\S+?):(?:\s|$)",
    rf"(?:{_ERRORS})\b[^\n]*?(?P<url>https?://[^\s'\"]+)",
    rf"(?:{_ERRORS})\b",
    r"Max retries exceeded with url|Failed to establish a new connection|Temporary failure in name resolution|"
    r"Name or service not known|nodename nor servname|getaddrinfo failed|Could not resolve host",
    r"Error executing an HTTP request: (?:libcurl code|HTTP response code (?!404)\d+)|The transmission[^\n]* has been "
    r"stuck at|All \d+ retry attempts failed",
    r"requests\.exceptions\.(?:ConnectionError|Timeout)|urllib3\.exceptions\.\w+|http\.client\.\w+",
    r"CERTIFICATE_VERIFY_FAILED|We couldn't connect to 'https?://|Can't load (?:the )?(?:model|tokenizer|"
    r"config)[^\n]*internet",
    r"An error occurred \((?:SlowDown|RequestTimeout|503|InternalError)\) when calling|Unable to locate "
    r"credentials|Could not connect to the endpoint URL",
    r"(?:^|\.)(?:ConnectionRefusedError|ConnectionResetError|socket\.timeout)\b: ?[^\n]*(?!.*grpc)",
    r"(?:^|\.)(?:ConnectionError|TimeoutError)\b: [^\n]*(?:\[Errno|WinError|https?://|timed out|refused|reset)",
    r"(?i)\b(?:gs|s3|hdfs)://\S+[^\n]*(?:unavailable|timed out|failed|could not)",
)


@rule()
def data_source_unreachable(run: Run) -> Answer:
    """A remote data source could not be reached: a download, a bucket, a database.

    What happened
        The program requested data over the network, and the server was down, refused, closed the connection, or
        asked for credentials. Compute nodes of clusters often have no internet access at all.

    How laststep knows
        The network library's own error, with the address where it gives one.

    What to do
        Download the data before training and keep a local copy, with a checksum. Code that reads remote data in
        a loop should retry with exponential backoff: one failed request should not end a night's work.

    Not to be confused with
        peer-lost (another rank of the same training), missing-file (a local path).
    """
    message = find_message(run, *MESSAGES)
    url = message.get("url") if message else ""
    return answer(
        run,
        message,
        "no request to a remote source failed",
        cause=f"{url or 'A remote data source'} could not be reached.",
        remedies=(
            Remedy("Check whether this machine can reach it", f"curl -sSfI {url}" if url else None, safe=True),
            Remedy("Download the data before training, and read the local copy"),
        ),
    )

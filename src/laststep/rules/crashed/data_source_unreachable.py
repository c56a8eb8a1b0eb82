"""A remote source of data did not answer."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import ECHOES, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_ERRORS = (
    r"URLError|HTTPError|gaierror|ConnectTimeout|ReadTimeout|SSLError|EndpointConnectionError|ProxyError|"
    r"RemoteDisconnected|IncompleteRead|ContentTooShortError|ChunkedEncodingError|ServiceUnavailable|"
    r"LocalEntryNotFoundError"
)
SAID = compiled(
    r"URL fetch failure on (?P<url>\S+?):",
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


@rule(outranks=(*ECHOES, "missing-file"))
def data_source_unreachable(run: Run) -> Answer:
    """A remote source of data did not answer: a download, a bucket, a database.

    What happened
        The program fetched something over the network, and the other side was not there, refused, broke off, or
        asked for credentials. Compute nodes of clusters often have no way out to the internet at all.

    How laststep knows
        The network library's own error, with the address where it is said.

    What to do
        Fetch the data before the training and keep a local copy, with a checksum. In a loop that reads from
        afar, try again with growing pauses; one failed request should not end a night's work.

    Not to be confused with
        peer-lost (another rank of the same training), missing-file (a local path).
    """
    message = find_message(run, *SAID)
    url = message.get("url") if message else ""
    return answer(
        run,
        message,
        "no request to a remote source failed",
        cause=f"{url or 'A remote source'} could not be reached.",
        remedies=(
            Remedy("See whether this machine reaches it", f"curl -sSfI {url or 'URL'}", safe=True),
            Remedy("Fetch the data before training begins, and read the local copy"),
        ),
    )

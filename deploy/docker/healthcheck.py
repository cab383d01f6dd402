"""Exit code 0 when the service in this container can serve requests; Docker asks it."""

import os
import ssl
import urllib.request

tls = bool(os.environ.get("LIBRARIAN_TLS_CERT"))
address = f"{'https' if tls else 'http'}://127.0.0.1:{os.environ['LIBRARIAN_PORT']}/readyz"
# The certificate is for the service's name, not for this address; nothing secret is sent.
context = ssl._create_unverified_context() if tls else None  # noqa: S323, SLF001 - see above
# Not through a proxy that the environment may name.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
opener.open(address, timeout=4).close()

# Librarian beside a Neo4j that runs elsewhere: NEO4J_URI is required, no database is started in here.
# A container's own loopback is out of reach, so it binds to every address; LIBRARIAN_ALLOW_INSECURE_BIND=1 is left to
# whoever publishes the port and knows what stands in front of it (compose.yaml: this machine's loopback).
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/librarian && /opt/librarian/bin/pip install --no-cache-dir .

FROM python:3.12-slim
COPY --from=build /opt/librarian /opt/librarian
RUN useradd --system --uid 10001 --user-group --no-create-home librarian \
    && install --directory --owner=librarian --group=librarian --mode=700 /data
USER librarian
# /data keeps the key file and, after the first start, the encoder's model.
VOLUME /data
ENV PATH=/opt/librarian/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    LIBRARIAN_CACHE=/data/cache \
    LIBRARIAN_HOME=/data/home \
    LIBRARIAN_HOST=0.0.0.0 \
    LIBRARIAN_PORT=8765
EXPOSE 8765
# The first start downloads the model and may wait for a recovering database.
HEALTHCHECK --interval=10s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['LIBRARIAN_PORT']}/readyz\", timeout=4)"]
CMD ["librarian", "serve"]

# Librarian beside a Neo4j that runs elsewhere: NEO4J_URI is required, no database is started in here.
# A container's own loopback is out of reach, so it binds to every address; LIBRARIAN_ALLOW_INSECURE_BIND=1, or a
# certificate, is left to whoever publishes the port and knows what stands in front of it (compose.yaml: this machine's
# loopback). docs/deployment.md tells more.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY cypher cypher
COPY graph graph
COPY librarian librarian
COPY librarian_agents librarian_agents
COPY migrations migrations
COPY retrieval retrieval
RUN python -m venv /opt/librarian && /opt/librarian/bin/pip install --no-cache-dir '.[otel]'

FROM python:3.12-slim
LABEL org.opencontainers.image.title="Librarian" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/librarian /opt/librarian
COPY deploy/docker/healthcheck.py /opt/librarian/healthcheck.py
RUN useradd --system --uid 10001 --user-group --no-create-home librarian \
    && install --directory --owner=librarian --group=librarian --mode=700 /data
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
# /data keeps the key file and, after the first start, the encoder's model.
VOLUME /data
ENV PATH=/opt/librarian/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/data \
    LIBRARIAN_CACHE=/data/cache \
    LIBRARIAN_HOME=/data/home \
    LIBRARIAN_HOST=0.0.0.0 \
    LIBRARIAN_PORT=8765
EXPOSE 8765
# The first start downloads the model and may wait for a recovering database.
HEALTHCHECK --interval=10s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "/opt/librarian/healthcheck.py"]
CMD ["librarian", "serve"]

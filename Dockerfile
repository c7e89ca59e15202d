# The image of one Lockstep member. `docker-compose.yml` makes a lab of several; by hand, with a folder of user 1000:
#   docker build --tag lockstep .
#   docker run --rm --volume ~/shared:/folder lockstep init --name ant
#   docker run --volume ~/shared:/folder --publish 4700:4700 --publish 127.0.0.1:4800:4800 lockstep \
#     up --dashboard 0.0.0.0:4800 --dashboard-guard outside
ARG BASE=node:22-bookworm-slim

# What an agent needs at run time. With Node 20, better-sqlite3 is compiled where its ready-made binary cannot be had.
FROM ${BASE} AS modules
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ make python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/lockstep
COPY package.json package-lock.json .npmrc ./
COPY shared/package.json shared/
COPY agent/package.json agent/
COPY dashboard/package.json dashboard/
COPY e2e/package.json e2e/
# `npm ci` takes a lock file that does not name the packages for other platforms for a mistake; `npm install` follows it all the same.
RUN options="--omit=dev --workspace @lockstep/agent --workspace @lockstep/shared"; \
    npm ci $options || npm install --no-save $options

# The compilers of TypeScript and of the page, and what they make. They need no native module, so no install script runs again.
FROM modules AS build
RUN npm ci --ignore-scripts || npm install --no-save --ignore-scripts
COPY tsconfig.base.json ./
COPY shared shared
COPY agent agent
RUN npx tsc --build shared agent && npm run build --workspace agent
COPY dashboard dashboard
COPY docs docs
RUN npm run build --workspace dashboard

# Sources, maps and intermediate files stay behind.
FROM modules AS parts
COPY --from=build /opt/lockstep/shared/dist shared/dist
COPY --from=build /opt/lockstep/agent/dist agent/dist
COPY --from=build /opt/lockstep/agent/bundle agent/bundle
COPY --from=build /opt/lockstep/dashboard/dist dashboard/dist
COPY agent/bin agent/bin
RUN find . -type f -regex '.*\.\(map\|[cm]?ts\|tsbuildinfo\)' -delete \
    && if [ "$(node -p 'process.versions.napi >= 10')" = true ]; then rm -rf node_modules/better-sqlite3-node20; fi \
    && find node_modules/better-sqlite3* -mindepth 1 -maxdepth 1 ! -name build ! -name lib ! -name prebuilds ! -name package.json -exec rm -r {} + \
    && find node_modules/better-sqlite3* -type f -path '*/build/*' ! -name better_sqlite3.node -delete \
    && find node_modules/better-sqlite3* -type f -path '*/prebuilds/*' ! -name 'linux*' -delete \
    && rm -rf package-lock.json .npmrc e2e

FROM ${BASE}
LABEL org.opencontainers.image.title="Lockstep" \
      org.opencontainers.image.description="Keeps one folder the same on every machine of a small group." \
      org.opencontainers.image.licenses="MIT"
# An agent is not the first process of its container: tini passes signals on and buries what is left behind.
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*
COPY --from=parts /opt/lockstep /opt/lockstep
RUN ln -s /opt/lockstep/agent/bin/lockstep.js /usr/local/bin/lockstep \
    && install -d -o 1000 -g 1000 /folder
ENV NODE_ENV=production
USER 1000:1000
WORKDIR /folder
EXPOSE 4700 4800
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s CMD ["node", "/opt/lockstep/agent/dist/cli/health-probe.js"]
ENTRYPOINT ["/usr/bin/tini", "--", "lockstep"]
CMD ["up"]

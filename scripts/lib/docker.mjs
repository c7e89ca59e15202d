import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { standInImage } from './base-image.mjs';
import { aptInstall, canUseApt, findProgram, root, run, SetupError } from './process.mjs';

const howTo =
  'Install Docker (https://docs.docker.com/engine/install/), start it, and check that `docker info` answers for your user.';

/** The time within which a started engine must answer. */
const engineStartMs = 60_000;

/** A registry that hangs must not hang the tests; the base image is some 80 MB. */
const pullTimeoutMs = 300_000;

async function succeeds(program, args) {
  if (findProgram(program) === undefined) return false;
  return (await run(program, args, { input: 'ignore', quiet: true })).code === 0;
}

const engineAnswers = () => succeeds('docker', ['info']);

/** The command for Compose: a program and its first arguments; undefined if there is none. */
async function findCompose() {
  if (await succeeds('docker', ['compose', 'version'])) return ['docker', 'compose'];
  return findProgram('docker-compose') === undefined ? undefined : ['docker-compose'];
}

/** Starts our own engine. Resolves with a function that stops it. */
async function startEngine() {
  const place = mkdtempSync(join(tmpdir(), 'lockstep-docker-'));
  const log = openSync(join(place, 'log'), 'w');
  // It gets its own session: Ctrl-C must reach only the tests, which stop their containers before we stop the engine.
  const child = spawn('dockerd', ['--pidfile', join(place, 'pid')], { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  let failure;
  const ended = new Promise((resolve) => {
    child.once('error', (error) => {
      failure = error.message;
      resolve();
    });
    child.once('exit', resolve);
  });
  const running = () => failure === undefined && child.exitCode === null && child.signalCode === null;
  const interrupt = () => {
    child.kill();
    process.exit(130);
  };
  const signals = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.once(signal, interrupt);
  const stop = async () => {
    for (const signal of signals) process.off(signal, interrupt);
    if (running()) child.kill();
    await ended;
    rmSync(place, { recursive: true, force: true });
  };
  for (const until = Date.now() + engineStartMs; running() && Date.now() < until; await sleep(200)) {
    if (await engineAnswers()) return stop;
  }
  console.error(readFileSync(join(place, 'log'), 'utf8').split('\n').slice(-20).join('\n'));
  await stop();
  throw new SetupError(`The Docker engine does not start${failure === undefined ? '' : ` (${failure})`}. ${howTo}`);
}

/**
 * Finds a Docker engine and Compose, or installs and starts them if that is possible. Resolves with the command for Compose, and a function
 * that stops what was started here. Throws a SetupError that says what is missing.
 */
export async function ensureDocker() {
  const present = (await engineAnswers()) && (await findCompose()) !== undefined;
  const installed = () => findProgram('dockerd') !== undefined || present;
  if (!present && canUseApt() && !(installed() && (await findCompose()) !== undefined)) {
    await aptInstall(['docker.io', 'docker-compose', 'iptables']);
  }
  const compose = await findCompose();
  if (compose === undefined) throw new SetupError(`There is no Docker Compose. ${howTo}`);
  if (await engineAnswers()) return { compose, stop: async () => {} };
  if (process.getuid?.() !== 0 || findProgram('dockerd') === undefined) {
    throw new SetupError(`No Docker engine answers. ${howTo}`);
  }
  console.error('Starting a Docker engine…');
  return { compose, stop: await startEngine() };
}

/** The base image of the Dockerfile. */
function baseImage() {
  return /^ARG BASE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1];
}

/** Makes sure that the base image exists: pulls it, or without a registry makes a stand-in with this machine's Node. */
async function ensureBaseImage() {
  const name = baseImage();
  if (await succeeds('docker', ['image', 'inspect', name])) return;
  const { code } = await run('docker', ['pull', '--quiet', name], {
    input: 'ignore',
    quiet: true,
    timeoutMs: pullTimeoutMs,
  });
  if (code === 0) return;
  if (!canUseApt())
    throw new SetupError(`The image ${name} could not be pulled from its registry. Try: docker pull ${name}`);
  console.error(`${name} could not be pulled: making a stand-in from Debian's packages and this machine's Node…`);
  await standInImage(name);
}

/** Builds the image of the members as `docker compose up` would; returns false if that fails. */
export async function buildImage(compose) {
  await ensureBaseImage();
  const [program, ...args] = compose;
  console.error('Building the image. The first time this takes some minutes…');
  const { code, output } = await run(program, [...args, 'build'], { input: 'ignore', quiet: true });
  if (code !== 0) console.error(output);
  return code === 0;
}

import { existsSync } from 'node:fs'
import type { EngineAnswer } from '@toolyard/sandbox/engine'
import { defaultDockerHost, probeEngine } from '@toolyard/sandbox/engine'
import { socketPathOf } from '@toolyard/sandbox/open-engine'
import { Failure } from '../terminal/failure.ts'
import { findProgram } from '../machine/find-program.ts'
import type { Installation } from '../installation/installation.ts'
import { logFile } from '../installation/installation.ts'
import { isRoot } from '../machine/is-root.ts'
import { findOwnEngine, startOwnEngine } from './own-engine.ts'
import { installPackages } from '../packages/install-packages.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import type { Progress } from '../terminal/progress.ts'

/** Which engine is used: one that the operator named, one that the machine has, or one that we run. */
export type EngineChoice =
  | { kind: 'named'; dockerHost: string }
  | { kind: 'machine'; dockerHost: string }
  | { kind: 'own' }

const install =
  'install Docker (https://docs.docker.com/engine/install/) and start it, or set DOCKER_HOST to an engine'

/**
 * Settles which engine it will be, installing one if the machine has none; may ask a person. An engine that answers is
 * used as it is. Starts nothing.
 */
export async function chooseEngine(installation: Installation, progress: Progress): Promise<EngineChoice> {
  const { dockerHost } = installation.config
  if (dockerHost !== undefined) {
    refuseUnusable(
      await probeEngine(dockerHost),
      dockerHost,
      'start that engine, correct DOCKER_HOST, or unset it',
    )
    return { kind: 'named', dockerHost }
  }
  if ((await findOwnEngine(installation)) !== undefined) return { kind: 'own' }
  const found = await findMachineEngine()
  if (found !== undefined) return found
  const missing = ['dockerd', 'containerd', 'runc'].filter((name) => findProgram(name) === undefined)
  if (missing.length > 0) {
    const log = logFile(installation, 'apt')
    const request = {
      packages: ['docker.io', 'iptables'],
      purpose: 'The Docker engine',
      otherwise: install,
      log,
    }
    await installPackages(request, progress)
    // A machine's own service manager may have started it meanwhile; then it is the machine's.
    const started = await findMachineEngine()
    if (started !== undefined) return started
  }
  if (!isRoot()) {
    throw new Failure(
      'No Docker engine answers, and only root may run one: start the machine\'s ("sudo systemctl start docker"), or set DOCKER_HOST',
    )
  }
  return { kind: 'own' }
}

/** The chosen engine, which answers when this returns; its process where it is ours. */
export async function startEngine(
  installation: Installation,
  choice: EngineChoice,
  progress: Progress,
): Promise<{ dockerHost: string; process?: ProcessIdentity }> {
  if (choice.kind !== 'own') return { dockerHost: choice.dockerHost }
  return progress.step('Starting a Docker engine of our own', () => startOwnEngine(installation))
}

async function findMachineEngine(): Promise<EngineChoice | undefined> {
  for (const dockerHost of localSockets()) {
    const answer = await probeEngine(dockerHost)
    if (answer.state === 'absent') continue
    const mend = 'update it, or set DOCKER_HOST to another engine'
    const access =
      'add yourself to the group that owns the socket ("sudo usermod -aG docker $USER", then log in again)'
    refuseUnusable(answer, dockerHost, answer.state === 'forbidden' ? access : mend)
    return { kind: 'machine', dockerHost }
  }
  return undefined
}

function localSockets(): string[] {
  const runtimeFolder = process.env['XDG_RUNTIME_DIR']
  const candidates = [
    defaultDockerHost,
    ...(runtimeFolder && !isRoot() ? [`unix://${runtimeFolder}/docker.sock`] : []),
  ]
  return candidates.filter((candidate) => existsSync(socketPathOf(candidate)))
}

function refuseUnusable(answer: EngineAnswer, dockerHost: string, mend: string): void {
  if (answer.state === 'ready') return
  throw new Failure(`The Docker engine at ${dockerHost} cannot be used (${answer.detail}): ${mend}`)
}

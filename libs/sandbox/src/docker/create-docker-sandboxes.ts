import { createSandboxes } from '../create-sandboxes.ts'
import type { SandboxesOptions } from '../create-sandboxes.ts'
import type { Sandboxes } from '../sandboxes.ts'
import type { DockerLauncherOptions } from './docker-launcher.ts'
import { createDockerLauncher } from './docker-launcher.ts'
import { openEngine } from './open-engine.ts'

export type DockerSandboxesOptions = Omit<SandboxesOptions, 'launcher' | 'isReuseSafe'> &
  Omit<DockerLauncherOptions, 'docker'> & { dockerHost: string }

/** Sandboxes on one Docker engine, as one worker has them. */
export function createDockerSandboxes({ dockerHost, ...options }: DockerSandboxesOptions): Sandboxes {
  const launcher = createDockerLauncher({ ...options, docker: openEngine(dockerHost) })
  // gVisor has versions that let a tool open the descriptors of PID 1.
  const isReuseSafe = options.policy.runtime !== 'runsc'
  return createSandboxes({ ...options, launcher, isReuseSafe })
}

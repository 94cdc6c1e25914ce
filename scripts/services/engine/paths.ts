import { join } from 'node:path'
import type { Installation } from '../installation/installation.ts'

export type EnginePaths = {
  folder: string
  dockerData: string
  containerdData: string
  /** Sockets and run-time state. Short, because a socket's path may have 107 bytes. */
  run: string
  exec: string
  socket: string
  containerdSocket: string
  daemonConfig: string
  containerdConfig: string
  cgroup: string
}

const runFolderMaxBytes = 60

/** What must be known of an installation to find its engine. */
export type EnginePlace = Pick<Installation, 'id' | 'paths'>

export function enginePaths({ id, paths }: EnginePlace): EnginePaths {
  const inside = join(paths.engine, 'run')
  const run = Buffer.byteLength(inside) > runFolderMaxBytes ? `/run/toolyard-${id}` : inside
  return {
    folder: paths.engine,
    dockerData: join(paths.engine, 'data'),
    containerdData: join(paths.engine, 'containerd'),
    run,
    exec: join(run, 'exec'),
    socket: join(run, 'docker.sock'),
    containerdSocket: join(run, 'containerd.sock'),
    daemonConfig: join(paths.engine, 'daemon.json'),
    containerdConfig: join(paths.engine, 'containerd.toml'),
    cgroup: `/toolyard-${id}`,
  }
}

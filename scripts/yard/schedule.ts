import type { Verb } from './arguments/run-verb.ts'
import { asking, runVerb } from './arguments/run-verb.ts'

const verbs: Record<string, Verb> = {
  list: {
    usage: asking,
    about: 'all cron tools: when they run next, how the last run ended',
    load: async () => (await import('./schedule/list-schedules.ts')).listSchedules,
  },
  show: {
    usage: `NAME ${asking}`,
    about: 'one of them, with what became of its last 20 times',
    load: async () => (await import('./schedule/list-schedules.ts')).showSchedule,
  },
  trigger: {
    usage: `NAME [--overlap skip|buffer_one|allow|cancel_other] ${asking}`,
    about: 'run it now; --overlap: what runs already counts by that',
    load: async () => (await import('./schedule/run-schedule.ts')).triggerSchedule,
  },
  pause: {
    usage: `NAME --reason TEXT ${asking}`,
    about: 'nothing of it starts by itself; what runs goes on',
    load: async () => (await import('./schedule/change-schedule.ts')).pauseSchedule,
  },
  resume: {
    usage: `NAME [--catch-up] ${asking}`,
    about: 'let it go on; --catch-up makes up for what was due meanwhile',
    load: async () => (await import('./schedule/change-schedule.ts')).resumeSchedule,
  },
  set: {
    usage: `NAME [KEY=VALUE …] [--unset KEY …] ${asking}`,
    about: 'otherwise than its manifest says; --unset goes back to the manifest',
    load: async () => (await import('./schedule/change-schedule.ts')).setSchedule,
  },
  backfill: {
    usage: `NAME --from TIME [--until TIME] ${asking}`,
    about: 'run what did not run in that range; until now when not told',
    load: async () => (await import('./schedule/run-schedule.ts')).backfillSchedule,
  },
}

export const schedule = (args: string[]): Promise<number> => runVerb('schedule', verbs, args)

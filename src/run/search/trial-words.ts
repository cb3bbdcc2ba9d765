import { partsOfTrial, type TrialEvidence } from '../../schedule/safe-rate/trial.ts'
import { largest, smallest } from '../../user/extremes.ts'
import type { Coordinator } from '../crew/coordinator.ts'
import type { Said } from '../crew/team.ts'
import { longest } from './trial-counts.ts'

/** The evidence of a trial over all machines of a run; null if the run was stopped. */
export async function atAllMachines(
  coordinator: Coordinator,
  name: string,
  own: TrialEvidence,
): Promise<TrialEvidence | null> {
  const all = await coordinator.gather(name, wordsOf(own))
  return all === null ? null : evidenceOf(all)
}

const ends: readonly TrialEvidence['end'][] = ['plan', 'backlog', 'misses']

/** Numbers by name, as machines exchange them. */
function wordsOf(seen: TrialEvidence): Said {
  const { sent, notSent, late, judged, missed, unknown, limited, lastedUs, tookUs } = seen
  const { parts, inFlight, resetUs } = seen
  const named = (name: string, values: readonly number[]) =>
    values.map((value, at) => [`${name} ${at}`, value] as const)
  return {
    sent,
    notSent,
    late,
    judged,
    missed,
    unknown,
    limited,
    lastedUs,
    tookUs,
    serviceUs: (seen.meanUs ?? 0) * judged,
    ...(resetUs === null ? {} : { resetUs }),
    end: ends.indexOf(seen.end),
    moments: inFlight.length,
    ...Object.fromEntries([
      ...named('judged', parts.judged),
      ...named('missed', parts.missed),
      ...named('logUs', parts.logUs),
      ...named('inFlight', inFlight),
    ]),
  }
}

/** Counts are sums. The slowest machine ends a trial, and one that cannot hold decides for all. */
function evidenceOf(all: readonly Said[]): TrialEvidence {
  const sum = (name: string) => all.reduce((total, said) => total + (said[name] ?? 0), 0)
  const most = (name: string) => largest(all.map((said) => said[name] ?? 0))
  const series = (name: string, length: number) =>
    Array.from({ length }, (_, at) => sum(`${name} ${at}`))
  const judged = sum('judged')
  return {
    sent: sum('sent'),
    notSent: sum('notSent'),
    late: sum('late'),
    judged,
    missed: sum('missed'),
    unknown: sum('unknown'),
    limited: sum('limited'),
    resetUs: longest(all.map((said) => said.resetUs ?? null)),
    meanUs: judged === 0 ? null : sum('serviceUs') / judged,
    parts: {
      judged: series('judged', partsOfTrial),
      missed: series('missed', partsOfTrial),
      logUs: series('logUs', partsOfTrial),
    },
    inFlight: series('inFlight', smallest(all.map(({ moments }) => moments ?? 0))),
    lastedUs: most('lastedUs'),
    tookUs: most('tookUs'),
    end: ends[most('end')]!,
  }
}

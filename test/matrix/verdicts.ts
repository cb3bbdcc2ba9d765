import type { Finding } from '../../src/audit/verdict.ts'
import type { ServiceOptions } from '../../src/service/options.ts'
import type { Act } from './act.ts'
import { type ActName, acts, usualActs } from './acts.ts'
import { jumpingClock } from './jumping-clock.ts'
import { auditStages, Stage } from './stage.ts'

/**
 * The verdicts of an audit of acts against one service: a failure in any act counts. The acts are
 * played concurrently, each on its own service: most of their time is waiting.
 *
 * @param atReference options of the service beside it, in acts that have one
 */
export async function verdictsOf(
  options: ServiceOptions,
  names: readonly ActName[] = usualActs,
  rules: readonly string[] = [],
  atReference: ServiceOptions = {},
): Promise<ReadonlyMap<string, Finding>> {
  const stages = await Promise.all(
    names.map(async (name) => [name, await playAct(name, options, atReference)] as const),
  )
  const verdicts = new Map<string, Finding>()
  const byContract = Map.groupBy(stages, ([name]) => acts[name].contract)
  for (const [contract, group] of byContract) {
    const report = await auditStages(
      group.map(([, stage]) => stage),
      contract,
      { rules },
    )
    for (const finding of report.findings) {
      const before = verdicts.get(finding.rule)
      if (before === undefined || weight(finding) > weight(before)) {
        verdicts.set(finding.rule, finding)
      }
    }
  }
  return verdicts
}

const order = ['not-promised', 'not-observed', 'pass', 'inconclusive', 'fail']
const weight = ({ verdict }: Finding) => order.indexOf(verdict.verdict)

/** Plays one act against a service with these options; the stage is closed, its record kept. */
export const playAct = (
  name: ActName,
  options: ServiceOptions,
  atReference: ServiceOptions = {},
): Promise<Stage> => whilePlayed(name, options, async (stage) => stage, atReference)

/** Plays one act, and calls `then` before its service is closed. */
export async function whilePlayed<Result>(
  name: ActName,
  options: ServiceOptions,
  then: (stage: Stage) => Promise<Result>,
  atReference: ServiceOptions = {},
): Promise<Result> {
  const { options: own, play, upstream, reference, jumps } = acts[name] as Act
  const clock = () => (jumps ? { clock: jumpingClock() } : {})
  const answering = await upstream?.()
  const stage = await Stage.open(
    {
      ...own,
      ...clock(),
      ...options,
      ...(answering === undefined ? {} : { upstream: answering }),
    },
    name,
    null,
    jumps,
  )
  if (reference !== null) {
    stage.beside = await Stage.open(
      { ...own, ...clock(), seed: 11, ...atReference },
      `${name} reference`,
      reference,
      jumps,
    )
  }
  try {
    await Promise.all([stage, stage.beside].map((each) => each && play(each)))
    // The service completes its pending work before it is closed.
    stage.rest(10)
    await new Promise((resolve) => setTimeout(resolve, 5))
    return await then(stage)
  } finally {
    await stage.close()
    await stage.beside?.close()
    await answering?.close()
  }
}

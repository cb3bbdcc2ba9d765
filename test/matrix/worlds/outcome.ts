import { audit } from '../../../src/audit/audit.ts'
import type { Finding } from '../../../src/audit/verdict.ts'
import { appendAttempts, Recorder } from '../../../src/store/attempts/recorder.ts'
import { enterEndedRun } from '../../report/attempts.ts'
import { inEmptyStore } from '../../store/opened.ts'
import { type Label, labelFor } from './label.ts'
import { type Played, play } from './play.ts'
import { contractOf } from './terms.ts'
import type { World } from './world.ts'

/** What an audit says of a world. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly label: Label
  /** Nothing to tell, or how well the fault was told. */
  readonly is: 'honest' | 'not shown' | 'by cause' | 'told' | 'inconclusive' | 'missed'
  /** Rules that fail, and that nothing in the world explains. */
  readonly wrongly: readonly Finding[]
  /** Rules that are inconclusive although every cost is known. */
  readonly needlessly: readonly Finding[]
}

export async function outcomeOf(world: World): Promise<Outcome> {
  const played = play(world)
  const findings = await findingsOf(world, played)
  const label = labelFor(world, played)
  const failed = findings.filter(({ verdict }) => verdict.verdict === 'fail')
  const wrongly = failed.filter(({ rule }) => !isExplained(rule, label))
  const open = findings.filter(({ verdict }) => verdict.verdict === 'inconclusive')
  const told = failed.filter(
    ({ rule, severity }) => isExplained(rule, label) && severity !== 'advice',
  )
  const needlessly = label.isDoubtful || world.fault !== null ? [] : open
  return { findings, label, wrongly, needlessly, is: toldAs() }

  function toldAs(): Outcome['is'] {
    const { fault } = world
    if (fault === null) return 'honest'
    if (label.provenAt.length === 0 && told.length === 0) return 'not shown'
    if (told.some((finding) => fault.cause.test(wordsOf(finding)))) return 'by cause'
    if (told.length > 0) return 'told'
    return open.length > 0 ? 'inconclusive' : 'missed'
  }
}

function isExplained(rule: string, { mayFail, about }: Label): boolean {
  const [family, , price] = rule.split(':')
  return mayFail.has(family!) && (price === undefined || about.includes(price))
}

/** Everything that a finding says. */
export function wordsOf({ verdict }: Finding): string {
  if (verdict.verdict === 'fail')
    return [
      verdict.expected,
      verdict.observed,
      ...verdict.witnesses.map(({ shows }) => shows),
    ].join('\n')
  return verdict.verdict === 'inconclusive' ? verdict.why : ''
}

async function findingsOf({ terms }: World, played: Played): Promise<readonly Finding[]> {
  return inEmptyStore(async (store) => {
    await enterEndedRun(store, 'a', { startedAtUs: terms.startMs * 1000 })
    await appendAttempts(store, played.rows)
    const recorder = await Recorder.open(store)
    recorder.append('templates', played.templates)
    recorder.appendBodies(played.bodies)
    recorder.flush()
    await recorder.close()
    const { findings } = await audit(store, {
      ...{ contract: contractOf(terms), runIds: ['a'], rules: ['PRICE'] },
      choices: terms.isVip ? { group: 'vip' } : {},
      ...(terms.log ? { log: { text: played.log, file: 'spend.jsonl' } } : {}),
    })
    return findings
  })
}

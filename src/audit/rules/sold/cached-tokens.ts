import type { CachePromise } from '../../../contract/contract.ts'
import { type Exchange, shownBy } from '../../evidence/exchange.ts'
import { exchangesByModel, overModels } from '../../evidence/sold/by-model.ts'
import {
  type CacheTimes,
  judgeCacheTimes,
  leastRepeats,
  wrongCached,
} from '../../evidence/sold/cache.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { pairsOf } from '../../evidence/sold/pairs.ts'
import { ttftUsOf } from '../../evidence/sold/ttft.ts'
import type { Evidence, Rule } from '../../rule.ts'
import {
  fail,
  inconclusive,
  notObserved,
  pass,
  type Verdict,
  type Witness,
  withFigures,
} from '../../verdict.ts'

const requires =
  'answers that report cached tokens; or repeated prompts among fresh ones of the same size (scenarios/audit-cache.yaml)'

/** Shorter prompts are read as fast as they are found. */
const leastPrompt = 500

export const sold04: Rule = {
  id: 'SOLD-04',
  title: 'Cached tokens are true',
  section: 'contract: models, cache',
  needs: ['passive', 'active'],
  explain: `Cached tokens are no more than the prompt, none of a prompt below least_tokens, and a multiple of step_tokens where the contract says
so. A miss is honest: no share of hits is promised, and a miss is as slow as a fresh prompt. So the times to the first tokens of repeated prompts that are counted as not cached are compared with those of fresh
prompts of the same size that were sent beside them, in both orders, whatever is credited to other repeats. Repeats that begin 1.15 times as fast or more, at p 0.001 of 999 changes of signs,
fail: the cache is used and not credited. Prompts below least_tokens are not compared. Tokens that are credited and no faster harm nobody, and pass; at what price they are charged is for PRICE-03. It cannot detect a cache that answers with a delay, savings below 15 %, or a cache that is shared with others.`,
  ...judgedOrMeasured('models.cache', decide, 'cache'),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  return overModels(await exchangesByModel(evidence), requires, ({ cache }, exchanges) =>
    cache === undefined ? [] : verdictOf(cache, exchanges),
  )
}

function verdictOf(promise: CachePromise, exchanges: readonly Exchange[]): Verdict {
  const answered = exchanges.filter(({ isOk, row }) => isOk && row.promptTokens !== null)
  const counted = answered.filter(({ row }) => row.cachedTokens !== null)
  const wrong = counted.flatMap((exchange): Witness[] => {
    const { promptTokens, cachedTokens } = exchange.row
    const shows = wrongCached({ promptTokens: promptTokens!, cachedTokens: cachedTokens! }, promise)
    return shows === null ? [] : [shownBy(exchange, shows)]
  })
  const [first] = wrong
  if (first !== undefined)
    return fail(counted.length, {
      expected: 'cached tokens as the contract says',
      observed: `${first.shows}; ${wrong.length} of ${counted.length} answers`,
      witnesses: wrong.slice(0, 5),
    })
  const { found, repeats, credited } = timesOf(answered, promise)
  const observations = Math.max(counted.length, repeats.length)
  const which =
    credited === 0
      ? 'all were counted as not cached'
      : `these were counted as not cached, beside ${credited} that were credited`
  const figures =
    'faster' in found ? ([{ name: 'repeats_faster', value: found.faster }] as const) : []
  switch (found.is) {
    case 'fail':
      return fail(observations, {
        expected: 'repeated prompts that begin no sooner, or are counted as cached',
        observed: `Repeated prompts began ${found.faster.toFixed(1)} times as fast (p ${found.p}, ${repeats.length} repeats) and ${which}: the cache is used and not credited.`,
        witnesses: repeats.slice(0, 5).map((each) => shownBy(each, 'repeated, 0 cached')),
        figures,
      })
    case 'inconclusive': {
      const why = `repeated prompts began ${found.faster.toFixed(2)} times as fast (p ${found.p}), and ${which}`
      return withFigures(inconclusive(observations, why), figures)
    }
    case 'pass':
      return pass(observations, {
        note: `repeated prompts began ${found.faster.toFixed(2)} times as fast as fresh ones (p ${found.p}), and ${which}`,
        figures,
      })
    default:
      return counted.some(({ row }) => row.cachedTokens! > 0)
        ? pass(observations, {
            note: `counts alone; ${credited === 0 ? 'no repeated prompt is credited' : 'repeated prompts are credited'}, and times need ${leastRepeats} pairs that are not`,
          })
        : notObserved(`${requires}; ${leastRepeats} pairs decide`)
  }
}

/** Repeated prompts that are not credited beside fresh ones, and how many are credited. */
function timesOf(
  answered: readonly Exchange[],
  { leastTokens = 0 }: CachePromise,
): {
  readonly found: CacheTimes
  readonly repeats: readonly Exchange[]
  readonly credited: number
} {
  const runs = Map.groupBy(answered, ({ row }) => row.runId)
  const ordered = [...runs.values()].map((run) => inOrder(run, Math.max(leastPrompt, leastTokens)))
  const isCredited = ({ exchange: { row } }: { readonly exchange: Exchange }) =>
    (row.cachedTokens ?? 0) > 0
  const credited = ordered.flat().filter((each) => each.isOther && isCredited(each)).length
  const all = ordered.map((run) => run.filter((each) => !isCredited(each)))
  const repeats = all.flat().flatMap(({ exchange, isOther }) => (isOther ? [exchange] : []))
  const draw = drawsOf(repeats.map(({ row }) => `${row.runId} ${row.slot}`).join())
  return { found: judgeCacheTimes(all.flatMap(pairsOf), draw), repeats, credited }
}

/** The requests of a run whose times count: repeats, and prompts that are sent once, of so many tokens or more. */
function inOrder(run: readonly Exchange[], least: number) {
  const nameOf = ({ row }: Exchange) =>
    row.promptHash === null ? null : `${row.keyFp} ${row.model} ${row.promptHash}`
  const times = Map.groupBy(run, nameOf)
  const seen = new Set<string>()
  return run
    .filter(({ row }) => row.promptTokens! >= least)
    .toSorted((a, b) => a.row.sentUs - b.row.sentUs)
    .flatMap((exchange) => {
      const name = nameOf(exchange)
      const isOther = name !== null && seen.has(name)
      const isFirst = name !== null && !isOther && times.get(name)!.length > 1
      if (name !== null) seen.add(name)
      const ttftUs = ttftUsOf(exchange)
      // The first of equal prompts may follow a pause, and is compared with nothing.
      if (ttftUs === null || isFirst) return []
      return [{ exchange, isOther, ttftUs, promptTokens: exchange.row.promptTokens! }]
    })
}

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
  severity: 'must',
  needs: ['passive', 'active'],
  explain: `Cached tokens are no more than the prompt, none of a prompt below least_tokens, and a multiple of step_tokens where the contract says
so. A miss is honest: no share of hits is promised. If all repeated prompts of a run are counted as not cached, the times to their first tokens are compared with those of fresh
prompts of the same size that were sent beside them, in both orders. Repeats that begin 1.15 times as fast or more, at p 0.001 of 999 changes of signs,
fail: the cache is used and not credited. Tokens that are credited and no faster harm nobody, and pass; at what price they are charged is for PRICE-03. It cannot detect a cache that answers with a delay, savings below 15 %, or a cache that is shared with others.`,
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
  const [first, ...others] = wrong
  if (first !== undefined)
    return fail(counted.length, {
      expected: 'cached tokens as the contract says',
      observed: `${first.shows}; ${wrong.length} of ${counted.length} answers`,
      witnesses: [first, ...others.slice(0, 4)],
    })
  const times = timesOf(answered)
  const observations = Math.max(counted.length, times.repeats.length)
  const { found, repeats } = times
  const figures =
    'faster' in found ? ([{ name: 'repeats_faster', value: found.faster }] as const) : []
  switch (found.is) {
    case 'fail':
      return fail(observations, {
        expected: 'repeated prompts that begin no sooner, or are counted as cached',
        observed: `Repeated prompts began ${found.faster.toFixed(1)} times as fast (p ${found.p}, ${repeats.length} repeats) and all were counted as not cached: the cache is used and not credited.`,
        witnesses: [
          shownBy(repeats[0]!, 'repeated, 0 cached'),
          ...repeats.slice(1, 5).map((each) => shownBy(each, 'repeated, 0 cached')),
        ],
        figures,
      })
    case 'inconclusive':
      return withFigures(
        inconclusive(
          observations,
          `repeated prompts began ${found.faster.toFixed(2)} times as fast (p ${found.p}), and all were counted as not cached`,
        ),
        figures,
      )
    case 'pass':
      return pass(observations, {
        note: `repeated prompts began ${found.faster.toFixed(2)} times as fast as fresh ones (p ${found.p})`,
        figures,
      })
    default:
      return counted.some(({ row }) => row.cachedTokens! > 0)
        ? pass(observations, { note: 'counts alone; repeated prompts are credited' })
        : notObserved(`${requires}; ${leastRepeats} pairs decide`)
  }
}

/** Repeated prompts beside fresh ones; not judged if any repeat is credited. */
function timesOf(answered: readonly Exchange[]): {
  readonly found: CacheTimes
  readonly repeats: readonly Exchange[]
} {
  const runs = Map.groupBy(answered, ({ row }) => row.runId)
  const all = [...runs.values()].map(inOrder)
  const repeats = all.flat().flatMap(({ exchange, isOther }) => (isOther ? [exchange] : []))
  if (repeats.some(({ row }) => (row.cachedTokens ?? 0) > 0))
    return { found: { is: 'unseen' }, repeats }
  const draw = drawsOf(repeats.map(({ row }) => `${row.runId} ${row.slot}`).join())
  return { found: judgeCacheTimes(all.flatMap(pairsOf), draw), repeats }
}

/** The requests of a run whose times count: repeats, and prompts that are sent once. */
function inOrder(run: readonly Exchange[]) {
  const nameOf = ({ row }: Exchange) =>
    row.promptHash === null ? null : `${row.keyFp} ${row.model} ${row.promptHash}`
  const times = Map.groupBy(run, nameOf)
  const seen = new Set<string>()
  return run
    .filter(({ row }) => row.promptTokens! >= leastPrompt)
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

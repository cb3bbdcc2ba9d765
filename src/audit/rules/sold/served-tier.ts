import type { Model, ServedTier } from '../../../contract/contract.ts'
import { isObject } from '../../../user/json.ts'
import { type Exchange, firstShown } from '../../evidence/exchange.ts'
import { exchangesByModel, overModels } from '../../evidence/sold/by-model.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { measuredIn, measuring, promisesThat } from '../../evidence/sold/measured.ts'
import { pairsOf } from '../../evidence/sold/pairs.ts'
import { leastPairs, ratioBetween } from '../../evidence/sold/ratio.ts'
import { judgeTier } from '../../evidence/sold/tier.ts'
import { ttftUsOf } from '../../evidence/sold/ttft.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, withFigures } from '../../verdict.ts'

const requires = `streams of the paid tier beside streams of the default tier, ${leastPairs} pairs in mixed order (scenarios/audit-tier.yaml)`

export const sold08: Rule = {
  id: 'SOLD-08',
  title: 'The paid tier is delivered',
  section: 'contract: models, served_tiers',
  needs: ['active'],
  explain: `Compares the time to the first token of requests with the service_tier of the contract with that of requests without one, of prompts of the same size, in mixed
order and at most five requests apart: these share load, connection and replica. Slower than ttft times the default's, at p 0.001 of 999 changes of signs, fails; faster at p 0.05
passes. Answers that name another tier than asked for are left out: they say so, and PRICE-03 sees whether they are charged as the paid one. If all do, nothing is
hidden, and the rule passes with a note. A tier without ttft
promises its name alone. It cannot detect other promises of a tier, such as fewer refusals under load.`,
  ...whenPromised(
    ['models.served_tiers'],
    (evidence) => decide(evidence, ({ servedTiers = [] }) => servedTiers),
    async (evidence) =>
      measuredIn(await decide(await measuring(evidence), (_, exchanges) => tiersAsked(exchanges))),
  ),
}

/** Tiers that requests ask for, as if each were sold with any time. */
const tiersAsked = (exchanges: readonly Exchange[]): readonly ServedTier[] =>
  [...new Set(exchanges.map((each) => each.requestField('service_tier')))].flatMap((tier) =>
    typeof tier === 'string' && tier !== 'default' && tier !== 'auto' ? [{ tier, ttft: 1e9 }] : [],
  )

async function decide(
  evidence: Evidence,
  tiersOf: (model: Model, exchanges: readonly Exchange[]) => readonly ServedTier[],
): Promise<Verdict> {
  return overModels(await exchangesByModel(evidence), requires, (model, exchanges) =>
    tiersOf(model, exchanges).map((tier) => verdictOf(tier, exchanges)),
  )
}

function verdictOf({ tier, ttft }: ServedTier, exchanges: readonly Exchange[]): Verdict {
  const answered = exchanges.filter(({ isOk }) => isOk)
  const paid = answered.filter((each) => askedTier(each) === tier.toLowerCase())
  const named = paid.filter((each) => toldTier(each) !== null)
  const downgraded = new Set(named.filter((each) => toldTier(each) !== tier.toLowerCase()))
  if (ttft === undefined) {
    if (named.length === 0) return notObserved(`answers of the tier ${tier} that name their tier`)
    const said = `${named.length - downgraded.size} of ${paid.length} answers name ${tier}`
    return named.length === paid.length
      ? pass(named.length, { note: said })
      : inconclusive(paid.length, `${said}, and ${paid.length - named.length} name no tier`)
  }
  if (downgraded.size > 0 && downgraded.size === paid.length)
    return pass(paid.length, {
      note: `all ${paid.length} answers of ${tier} name another tier: ${toldTier(paid[0]!)}`,
    })
  const told =
    downgraded.size === 0 ? '' : `; ${downgraded.size} of ${paid.length} answers name another tier`
  const compared = [...Map.groupBy(answered, ({ row }) => row.runId).values()].map((run) =>
    run
      .toSorted((a, b) => a.row.sentUs - b.row.sentUs)
      .flatMap((exchange) => {
        const asked = askedTier(exchange)
        const isPaid = asked === tier.toLowerCase()
        const isDefault = asked === null || asked === 'default' || asked === 'auto'
        const ttftUs = ttftUsOf(exchange)
        if (ttftUs === null || downgraded.has(exchange) || !(isPaid || isDefault)) return []
        const promptTokens = exchange.row.promptTokens ?? 1
        return [{ exchange, isOther: isPaid, ttftUs, promptTokens }]
      }),
  )
  const pairs = compared.flatMap(pairsOf)
  const found = judgeTier(pairs, ttft, drawsOf(`${tier} ${answered[0]?.row.runId} ${pairs.length}`))
  const observations = pairs.length
  if (found.is === 'unseen') return notObserved(requires)
  const between = ratioBetween(pairs.map(({ logRatio }) => logRatio))
  const figures = [{ name: 'tier_time', of: tier, ...between }] as const
  const open = (why: string) => withFigures(inconclusive(observations, why), figures)
  const said = `${tier} took ${found.ratio.toFixed(2)} of the default's time to the first token (${observations} pairs)${promisesThat} at most ${ttft}${'p' in found ? ` (p ${found.p})` : ''}`
  switch (found.is) {
    case 'pass':
      return pass(observations, { note: said + told, figures })
    case 'fail':
      return fail(observations, {
        expected: `at most ${ttft} of the default's time`,
        observed: `${said}${told}.`,
        witnesses: firstShown(
          compared.flat().filter(({ isOther }) => isOther),
          ({ ttftUs }) => `${tier}, first token after ${(ttftUs / 1000).toFixed(1)} ms`,
        ),
        figures,
      })
    case 'few':
      return open(`${said}; ${leastPairs} pairs decide${told}`)
    case 'unmixed':
      return open(
        `${said}; one tier nearly always came first, so that load may be the cause${told}`,
      )
    case 'inconclusive':
      return open(said + told)
  }
}

function askedTier(exchange: Exchange): string | null {
  const asked = exchange.requestField('service_tier')
  return typeof asked === 'string' ? asked.toLowerCase() : null
}

/** In lower case: some services write tiers in capitals. */
function toldTier(exchange: Exchange): string | null {
  const documents = exchange.isStream
    ? (exchange.events?.events.map(({ json }) => json) ?? [])
    : [exchange.responseJson]
  const named = documents.findLast(
    (json) => isObject(json) && typeof json.service_tier === 'string',
  )
  return isObject(named) ? (named.service_tier as string).toLowerCase() : null
}

import { priceOfPart } from '../../../contract/prices.ts'
import { compare } from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import { toleranceOf } from '../../../price/judge/tolerance.ts'
import type { Part } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { lookup } from '../../../user/lookup.ts'
import {
  type Finding,
  fail,
  inconclusive,
  notObserved,
  pass,
  type Severity,
  type Verdict,
  witnessAt,
} from '../../verdict.ts'
import type { PriceJudgements } from './judgements.ts'
import type { PlaceResult } from './place-verdict.ts'

/** Most promises of prices that one audit lists. */
const mostFindings = 400

/**
 * A finding for each part of each price of the models in the traffic. One passes only if a request had the part, its
 * cost was right, and the part's cost exceeds the tolerance, so that a wrong price would have shown.
 */
export function partFindings(
  rule: string,
  severity: Severity,
  judged: readonly Judged[],
  result: PlaceResult,
  { prices, requests }: PriceJudgements,
): readonly Finding[] {
  const used = new Set(requests.map(({ requestedModel }) => requestedModel))
  const byModel = Map.groupBy(judged, ({ expected }) => expected.readings[0]?.model.id ?? '')
  return prices.models
    .filter(({ id }) => byModel.has(id) || used.has(id))
    .flatMap(({ id, price }) =>
      Object.entries(price)
        .filter(([, entry]) => entry.price !== 'open' && entry.price.numerator > 0n)
        .map(([name]) => ({
          rule: `${rule}:${id}:${name}`,
          severity,
          title: `Price of ${name} of ${id}`,
          verdict: partVerdict(name, byModel.get(id) ?? [], result),
        })),
    )
    .slice(0, mostFindings)
}

function partVerdict(name: string, judged: readonly Judged[], result: PlaceResult): Verdict {
  const having = judged.filter((each) => hasPart(each, name))
  const wrong = having.filter(({ is }) => is === 'wrong')
  const right = having.filter(({ is }) => is === 'right')
  const blamed = result.explanations.filter(({ about }) => about === name)
  const [first] = wrong
  // Another change that gives as many of the wrong amounts leaves open which price is wrong.
  const most = largest(blamed.map(({ fits }) => fits))
  const rival = result.explanations.find(({ about, fits }) => about !== name && fits >= most)
  if (first !== undefined && blamed.length > 0 && rival !== undefined)
    return inconclusive(
      having.length,
      `${blamed.map(({ summary }) => summary).join(', or ')} gives the wrong costs, and so does: ${rival.summary}`,
    )
  if (first !== undefined && blamed.length > 0 && !blamed.some(({ isSure }) => isSure))
    return inconclusive(
      having.length,
      `${blamed[0]!.summary} gives the wrong costs, which are so few or show so few decimals that another price may give them, too`,
    )
  if (first !== undefined && blamed.length > 0) {
    const { request, statement } = first
    return fail(having.length, {
      expected: 'the price of the contract',
      observed: blamed
        .map(({ summary, scope }) => `${summary}${scope === '' ? '' : ` (${scope})`}`)
        .join(', or '),
      witnesses: [witnessAt(request, `${statement.place} ${statement.text}`)],
    })
  }
  if (right.length > 0 && wrong.length === 0) return pass(right.length)
  if (having.length > 0)
    return inconclusive(
      having.length,
      wrong.length > 0
        ? 'the whole cost is wrong, and not by this part alone'
        : 'the cost of every request with it is open',
    )
  return notObserved(trafficFor(name))
}

/** Whether a request has the part, at a cost that a wrong price would move beyond the tolerance. */
function hasPart({ expected, unit }: Judged, name: string): boolean {
  const { calculation } = expected
  const model = expected.readings[0]?.model ?? null
  const line = calculation?.lines.find(
    (each) => (priceOfPart[each.name as Part] ?? each.name) === name,
  )
  return (
    line !== undefined &&
    calculation!.cost !== null &&
    compare(line.cost, toleranceOf(calculation!.cost, unit, model)) > 0
  )
}

function trafficFor(name: string): string {
  const traffic: Readonly<Record<string, string>> = lookup({
    cache_read: 'two equal requests with a long prompt, one after the other',
    cache_write: 'a request that writes a cache',
    cache_write_1h: 'a request that writes a cache for one hour',
    reasoning: 'a request to a model that reasons',
    input_audio: 'a request with audio',
    input_image: 'a request with an image',
    output_audio: 'a request for audio',
    output_image: 'a request for an image',
    search: 'a request whose answer takes a search',
  })
  return traffic[name] ?? `a request whose answer counts ${name}, with its cost`
}

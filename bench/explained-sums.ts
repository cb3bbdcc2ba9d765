import { explainSums } from '../src/audit/evidence/prices/explain-sums.ts'
import { isHeldInHeaders } from '../src/audit/evidence/prices/held.ts'
import { latenessOf } from '../src/audit/evidence/prices/late-values.ts'
import { readingsOf } from '../src/audit/evidence/prices/readings.ts'
import { stretchesOf } from '../src/audit/evidence/prices/stretches.ts'
import { unlikeValues } from '../src/audit/evidence/prices/unlike-values.ts'
import { parseContract } from '../src/contract/load.ts'
import { modelPriceOf } from '../src/contract/model-price.ts'
import { decimalText, rational, subtract } from '../src/money/rational.ts'
import { otherCurrencies, type PriceJudge } from '../src/price/judge/price-judge.ts'
import { type PricedRequest, unsent } from '../src/price/judge/request.ts'
import { readUsage } from '../src/tokens/read-usage.ts'
import { onceForEach } from '../src/user/once.ts'

/**
 * What PRICE-06 takes to explain wrong sums of a long run: each request shows the balance in its header, and a third of them are charged
 * by chance, so that no cause gives the sums, or twice. Processor time of each step; the first is what the rule takes without a failure.
 *
 *     node bench/explained-sums.ts [requests] [chance|twice]
 */
const [count = '50000', kind = 'chance'] = process.argv.slice(2)

const contract = parseContract(
  {
    ...{ name: 'long', currency: 'USD', charged: { success: 'full', refused: 'none' } },
    models: Array.from({ length: 5 }, (_, nth) => ({
      id: `m${nth}`,
      price: { input: 4 + nth, output: 20 + nth },
    })),
    evidence: { balance: { header: 'x-left', moves: 'down' } },
  },
  'long',
)
const prices = contract.prices!
const terms = prices.evidence.balance!

let seed = 1
function draw(below: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed % below
}

let left = rational(10n ** 9n)
const requests = Array.from({ length: Number(count) }, (_, slot): PricedRequest => {
  const [model, input, output] = [draw(5), 100 + draw(3000), 10 + draw(300)]
  const micro = BigInt(input * (4 + model) + output * (20 + model))
  const isWrong = slot % 3 === 0
  const more = !isWrong ? 0n : kind === 'twice' ? micro : BigInt(1 + draw(9999))
  left = subtract(left, rational(micro + more, 1_000_000n))
  const shown = decimalText(left)
  const startMs = Date.UTC(2026, 0, 1) + slot * 3000
  return {
    ...unsent,
    ...{ slot, requestedModel: `m${model}`, returnedModel: `m${model}`, isStream: false },
    ...{ outcomes: ['success'], startMs, headMs: startMs + 500, endMs: startMs + 500 },
    ...{ serviceTier: null, isTierRead: true, hasHead: true, prompt: String(slot) },
    usage: readUsage({ prompt_tokens: input, completion_tokens: output }, 'openai-chat'),
    ...{ mayCall: false, areCallsRead: true, isSurelyAgain: false, askedMs: startMs },
    ...{ account: 'main', key: 'main', responseId: null },
    header: (name) => (name === 'x-left' ? shown : undefined),
  }
})

const judge: PriceJudge = {
  ...{ currency: prices.currency, choices: {}, clockErrorMs: 2000, twinOf: () => null },
  priceOf: onceForEach((name: string) => modelPriceOf(contract, name)),
  ...{ others: otherCurrencies(prices), models: prices.models },
}

function timed<Value>(step: string, run: () => Value): Value {
  const before = process.cpuUsage()
  const value = run()
  const { user, system } = process.cpuUsage(before)
  process.stdout.write(`${step}: ${((user + system) / 1e6).toFixed(1)} s\n`)
  return value
}

const readings = readingsOf({ requests, pages: [] }, terms)
const of = [requests, terms, judge, new Map()] as const
const stretches = timed('sums', () => stretchesOf(readings, ...of))
const wrong = stretches.filter(({ isRight }) => !isRight).length
timed('whether values are late', () => latenessOf(readings, ...of))
timed('whether money is held back', () => isHeldInHeaders(readings, ...of))
const told = timed('causes', () => explainSums(stretches, ...of))
timed('whether there are several balances', () => unlikeValues(readings, ...of))
process.stdout.write(`${wrong} of ${stretches.length} wrong${told}\n`)

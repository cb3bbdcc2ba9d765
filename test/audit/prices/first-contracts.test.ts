import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { type ContractKind, firstContract } from '../../../src/price/first/first-contract.ts'
import { parseYaml } from '../../../src/user/yaml.ts'
import { novemberUs } from '../../report/attempts.ts'
import { audited, type Sent } from './paid.ts'

/**
 * The contracts that `contract init` writes, each with a service that keeps it, and with ones that do not: the balance alone, the log
 * alone, and both.
 */

interface Form {
  readonly kind: ContractKind
  readonly model: string
  /** What 1,000 tokens of input and 100 of output cost. */
  readonly cost: number
  readonly digits: number
  readonly page: (taken: string, left: string) => string
  readonly row: (id: string, cost: string, at: Date) => object
}

const counts = { prompt_tokens: 1000, completion_tokens: 100 }
const forms: readonly Form[] = [
  {
    ...{ kind: 'litellm', model: 'gpt-5.6', cost: 0.006, digits: 4 },
    page: (taken) => `{"info": {"spend": ${taken}}}`,
    row: (id, cost, at) => ({
      ...{ request_id: id, spend: Number(cost), model_group: 'gpt-5.6', ...counts },
      startTime: at.toISOString(),
    }),
  },
  {
    ...{ kind: 'openrouter', model: 'openai/gpt-5.6', cost: 0.006, digits: 4 },
    page: (taken) => `{"data": {"usage": ${taken}}}`,
    row: (id, cost, at) => ({
      ...{ id, total_cost: Number(cost), model: 'openai/gpt-5.6' },
      ...{ native_tokens_prompt: 1000, native_tokens_completion: 100 },
      created_at: at.toISOString(),
    }),
  },
  {
    ...{ kind: 'new-api', model: 'gpt-5.6', cost: 3000, digits: 0 },
    page: (_, left) => `{"data": {"quota": ${left}}}`,
    row: (id, cost, at) => ({
      ...{ request_id: `asked-${id}`, quota: Number(cost), model_name: 'gpt-5.6', ...counts },
      ...{ type: 2, created_at: Math.floor(at.getTime() / 1000) },
    }),
  },
  {
    ...{ kind: 'credits', model: 'large', cost: 5, digits: 0 },
    page: () => '{}',
    row: () => ({}),
  },
]

const usage = JSON.stringify({
  ...{ ...counts, total_tokens: 1100, cache_creation_input_tokens: 0 },
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
})
const startMs = novemberUs / 1000

/** @param takes what the nth of twenty requests takes, of its cost */
async function found(form: Form, takes: (nth: number) => number, by: 'log' | 'balance' | 'both') {
  const contract = parseContract(
    parseYaml(firstContract(form.kind, null)) as object,
    `${form.kind}.yaml`,
  )
  const text = (value: number) => value.toFixed(form.digits)
  const costs = Array.from({ length: 20 }, (_, nth) => form.cost * takes(nth))
  const [start, sum] = [2_000_000, costs.reduce((a, b) => a + b, 0)]
  let left = start
  const sends = costs.map((cost, nth): Sent => {
    left -= cost
    return {
      id: `a${nth}`,
      model: form.model,
      body: `{"model":"${form.model}","messages":"Hello ${nth}"}`,
      answer: `{"id": "a${nth}", "model": "${form.model}", "usage": ${usage}}`,
      headers: [
        `x-oneapi-request-id: asked-a${nth}`,
        ...(form.kind === 'credits' ? [`x-credits-remaining: ${text(left)}`] : []),
      ].join('\n'),
    }
  })
  const page = (answer: string): Sent => ({
    ...{ path: contract.prices?.evidence.balance?.get ?? '/', method: 'GET', model: null },
    ...{ endpoint: 'other', answer },
  })
  const read =
    by === 'log'
      ? sends
      : [page(form.page(text(0), text(start))), ...sends, page(form.page(text(sum), text(left)))]
  const log = costs.map((cost, nth) =>
    form.row(`a${nth}`, text(cost), new Date(startMs + (nth + 1) * 1000)),
  )
  const isByLog = by !== 'balance' && form.kind !== 'credits'
  return audited(read, null, { contract, ...(isByLog ? { log } : {}) })
}

const faults: Readonly<Record<string, (nth: number) => number>> = {
  'each charged twice': () => 2,
  'every 5th charged twice': (nth) => (nth % 5 === 4 ? 2 : 1),
  'every 10th charged three times': (nth) => (nth % 10 === 9 ? 3 : 1),
  'one charged twice': (nth) => (nth === 12 ? 2 : 1),
}

type Place = 'log' | 'balance' | 'both'
const placesOf = ({ kind }: Form): readonly Place[] =>
  kind === 'credits' ? ['balance'] : ['log', 'balance', 'both']

async function isJudged(form: Form, by: Place, names: readonly string[]): Promise<void> {
  const right = await found(form, () => 1, by)
  expect(Object.entries(right).filter(([, { verdict }]) => verdict === 'fail')).toEqual([])
  for (const name of names) {
    const wrong = await found(form, faults[name]!, by)
    const rule = by === 'balance' ? 'PRICE-06' : 'PRICE-04'
    expect([name, wrong[rule]]).toMatchObject([name, { verdict: 'fail' }])
    if (by !== 'balance' || form.kind === 'credits')
      expect([name, JSON.stringify(wrong[rule])]).toEqual([
        name,
        expect.stringMatching(/charged (?:twice|three times)|\d times (?:the cost|its price)/),
      ])
  }
}

test.each(forms)(
  'a service that keeps the contract of `contract init $kind` is not failed, and one that charges every 5th twice is',
  (form) => isJudged(form, placesOf(form).at(-1)!, ['every 5th charged twice']),
)
test('the balance alone shows that a service charges every 5th twice', () =>
  isJudged(forms[0]!, 'balance', ['every 5th charged twice']))
test.each(forms.flatMap((form) => placesOf(form).map((by) => ({ kind: form.kind, by, form }))))(
  'the contract of `contract init $kind` tells each way to charge twice by $by',
  { tags: 'whole' },
  ({ form, by }) => isJudged(form, by, Object.keys(faults)),
)

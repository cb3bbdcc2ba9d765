import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { costAction, showContractAction } from '../../src/cli/audits/contract.ts'
import type { CostOptions } from '../../src/cli/commands/contract.ts'
import { loadContract } from '../../src/contract/load.ts'
import { furtherVectors, priceVectors } from '../contract/price-vectors/vectors.ts'
import { main } from '../e2e/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-contract-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

function assay(...args: readonly string[]) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [main, 'contract', ...args], { cwd: folder }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })
}

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** What an action prints. */
function printed(action: () => void): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    action()
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const usual: Pick<CostOptions, 'choose' | 'outcome' | 'json' | 'model'> = {
  choose: [],
  outcome: 'success',
  json: true,
  model: 'm',
}

test('contract cost prints the exact cost of every price vector, also after contract show', {
  tags: 'whole',
}, () => {
  for (const { id, unit, model, usage, context = {}, cost } of [
    ...priceVectors,
    ...furtherVectors,
  ]) {
    const contract = file(`${id}.json`, {
      name: id,
      extends: 'none',
      currency: unit,
      models: [model],
    })
    const shown = file(
      `${id}.yaml`,
      printed(() => showContractAction(contract, {})),
    )
    const { at, service_tier: serviceTier, group, outcome, counts } = context
    const options = {
      ...usual,
      usage: file('usage.json', usage),
      ...(at === undefined ? {} : { at }),
      ...(serviceTier === undefined ? {} : { serviceTier }),
      ...(group === undefined ? {} : { group }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(counts === undefined ? {} : { counts: JSON.stringify(counts) }),
    } as CostOptions
    for (const path of [contract, shown]) {
      const found = JSON.parse(printed(() => costAction(path, options)))
      expect([id, found.cost, found.unit]).toEqual([id, cost, unit])
    }
  }
})

const gateway = `
name: gateway
extends: none
models:
  - id: gpt-5.6
    aliases: [gpt-5.6-2026-07-09]
    price: { input: 4, cache_read: 0.4, output: 20 }
    service: { flex: { times: 0.5 } }
`
const usage = {
  prompt_tokens: 2006,
  completion_tokens: 300,
  prompt_tokens_details: { cached_tokens: 1920 },
  service_tier: 'flex',
}

test('contract cost prints the arithmetic of each part, for any name of a model', async () => {
  const path = file('gateway.yaml', gateway)
  const { code, out } = await assay(
    ...['cost', path, '--model', 'gpt-5.6-2026-07-09', '--usage', file('u.json', usage)],
  )
  expect(code).toBe(0)
  expect(out).toBe(`gpt-5.6-2026-07-09 (service tier flex): 0.003556 USD
  input_uncached     86 x 2 / 1,000,000   = 0.000172
  cache_read      1,920 x 0.2 / 1,000,000 = 0.000384
  output_visible    300 x 10 / 1,000,000  = 0.003
Next: assay contract traffic ${path}  # writes the requests that show its prices
`)
})

test('a factor or a count that the contract does not have is refused, since it would change nothing', async () => {
  const path = file(
    'factors.yaml',
    'name: factors\nextends: none\ntimes: { region: { default: 1, us: 2 } }\nmodels: [{ id: m, price: { input: 1, output: 2, search: 10 }, tiers: { count: prompt, apply: whole, steps: [{ above: 2000000, price: { page: 1 } }] } }]\n',
  )
  const used = file('f.json', { prompt_tokens: 1_000_000, completion_tokens: 0 })
  const cost = (...args: readonly string[]) =>
    assay('cost', path, '--model', 'm', '--usage', used, '--json', ...args)
  const right = await cost('--choose', 'region=us', '--counts', '{"search": 3}')
  expect(JSON.parse(right.out).cost).toBe('62')
  expect((await cost('--counts', '{"page": 3}')).code).toBe(0)
  for (const [args, summary] of [
    [['--choose', 'regoin=us'], 'no factor "regoin" with choices. Did you mean region?'],
    [['--choose', 'region=uss'], '"region" has no choice "uss". Did you mean us?'],
    [
      ['--choose', 'region=us', '--choose', 'region=default'],
      'region is chosen twice, as us and as default; expected one',
    ],
    [['--counts', '{"serach": 3}'], 'm has no price of "serach". Did you mean search?'],
    [['--counts', '{"cache_read": 3}'], 'no price of "cache_read", which --usage counts.'],
    [
      ['--counts', '{"input": 3}'],
      'no price of "input", which --usage counts. Known: search, page.',
    ],
  ] as const) {
    const { code, err } = await cost(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(summary)])
  }
})

test('a cost that the contract does not promise exits with 3, and wrong arguments with 2', {
  tags: 'whole',
}, async () => {
  const path = file('gateway.yaml', gateway)
  const used = file('u.json', usage)
  const cost = (...args: readonly string[]) => assay('cost', path, ...args)
  expect(await cost('--model', 'gpt-5.6', '--usage', used, '--outcome', 'abort')).toMatchObject({
    code: 3,
    out: `gpt-5.6: the cost is not known\n  open: the contract promises nothing about charged.abort\nNext: assay contract traffic ${path}  # writes the requests that show its prices\n`,
  })
  expect((await cost('--model', 'gpt-5.7', '--usage', used)).err).toContain(
    'has no price for "gpt-5.7". Did you mean gpt-5.6?',
  )
  for (const [wrong, summary] of [
    [['--at', 'noon'], '--at: expected a time with its offset'],
    [['--counts', '[3]'], '--counts: expected a JSON object of numbers'],
    [['--choose', 'us'], '--choose: expected factor=choice'],
    [['--at', '2026-02-30T10:00:00Z'], '--at: expected a time with its offset'],
    [['--group', 'vip'], '--group: the contract has no factor "group" with choices.'],
  ] as const) {
    const { code, err } = await cost('--model', 'gpt-5.6', '--usage', used, ...wrong)
    expect([code, err]).toEqual([2, expect.stringContaining(summary)])
  }
})

test('contract init writes a contract that loads, for each kind, and replaces no file', {
  tags: 'whole',
}, async () => {
  for (const kind of ['litellm', 'openrouter', 'new-api', 'openai', 'anthropic', 'credits']) {
    const out = join(folder, `${kind}.yaml`)
    expect((await assay('init', kind, '--out', out)).out).toContain(out)
    expect(loadContract(out).prices!.models.length).toBeGreaterThan(0)
    expect(readFileSync(out, 'utf8')).toContain('The prices below are examples')
  }
  const again = await assay('init', 'openai', '--out', join(folder, 'openai.yaml'))
  expect([again.code, again.err]).toEqual([
    2,
    expect.stringContaining('exists and is not replaced'),
  ])
})

test("contract init takes the prices from the service's own list, with its date", {
  tags: 'whole',
}, async () => {
  const lists: Readonly<Record<string, unknown>> = {
    '/model/info': {
      data: [
        {
          model_name: 'big',
          model_info: {
            input_cost_per_token: 0.00000125,
            output_cost_per_token: 0.00001,
            cache_read_input_token_cost: 1.25e-7,
            input_cost_per_token_above_200k_tokens: 0.0000025,
            input_cost_per_token_flex: 6.25e-7,
            input_cost_per_audio_token: 3.2857142857142855e-8,
          },
        },
        { model_name: 'unpriced', model_info: {} },
      ],
    },
    '/api/v1/models': {
      data: [
        {
          id: 'openai/gpt',
          pricing: {
            prompt: '0.0000025',
            completion: '0.00001',
            internal_reasoning: '0',
            request: '0',
          },
        },
        { id: 'auto', pricing: { prompt: '-1', completion: '-1' } },
      ],
    },
    '/api/pricing': {
      data: [
        {
          model_name: 'r',
          quota_type: 0,
          model_ratio: 1.25,
          completion_ratio: 4,
          cache_ratio: 0.5,
        },
        { model_name: 'c', quota_type: 1, model_price: 0.02 },
      ],
      group_ratio: { default: 1, vip: 0.8 },
    },
  }
  const server = createServer(({ url }, response) => {
    response.end(url! in lists ? JSON.stringify(lists[url!]) : '<html>Please sign in</html>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const init = async (kind: string) => {
      const out = join(folder, `${kind}-listed.yaml`)
      const { err, code } = await assay('init', kind, '--from', from, '--out', out)
      expect(code).toBe(0)
      expect(readFileSync(out, 'utf8')).toMatch(new RegExp(`# Prices: ${from}/\\S+, 20\\d\\d-`))
      return { err, path: out }
    }
    const cost = async (path: string, model: string, more: readonly string[] = []) => {
      const used = file('l.json', { prompt_tokens: 200_001, completion_tokens: 1000 })
      const args = ['--model', model, '--usage', used, '--json', ...more]
      return JSON.parse((await assay('cost', path, ...args)).out).cost
    }
    const litellm = await init('litellm')
    expect(litellm.err).toContain('input_audio: 3.2857142857142855e-8 has 17 digits')
    expect(litellm.err).toContain('unpriced: no price in the list')
    expect(await cost(litellm.path, 'big')).toBe('0.5100025')
    const openrouter = await init('openrouter')
    expect(openrouter.err).toContain('auto: input: "-1" is no price')
    expect(await cost(openrouter.path, 'openai/gpt')).toBe('0.5100025')
    const newApi = await init('new-api')
    expect(await cost(newApi.path, 'r', ['--group', 'vip'])).toBe('204001')
    expect(await cost(newApi.path, 'c')).toBe('10000')
    const refused = await assay('init', 'openai', '--from', from, '--out', join(folder, 'o.yaml'))
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('has no list of prices'),
    ])
    const page = `${from}/console`
    const html = await assay('init', 'litellm', '--from', page, '--out', join(folder, 'h.yaml'))
    expect([html.code, html.err.includes('a bug in Assay')]).toEqual([4, false])
    expect(html.err).toContain(`the answer of GET ${page}/model/info is no JSON`)
  } finally {
    server.close()
  }
})

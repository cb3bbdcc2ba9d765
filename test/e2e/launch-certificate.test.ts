import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { assay, withFolder, withService } from './command.ts'

const shipped = resolve(import.meta.dirname, '../../scenarios')
const contract = `extends: none
name: shop
currency: USD
models:
  - id: svc-k2
    tokenizer: cl100k
    template_tokens: 7
    fixed: true
    price: { input: 1, output: 4 }
bands:
  - { name: all, min_balance: 0, max_balance: null, requests: { minute: 1000000, hour: 10000000, day: 100000000 } }
evidence:
  cost: [{ body: usage.cost }]
`
/** The search without a long confirmation, or with one that is too short. */
const long =
  'search, load: sweep, start: 20/s, max: 40/s, hold: 2000, precision: 10%, for: 4m, goodput: 95%'
const short =
  'search, load: sweep, start: 10/s, max: 12/s, hold: 300, precision: 10%, for: 2m, goodput: 95%'

interface Certified {
  readonly verdict: string
  readonly parts: readonly {
    readonly part: string
    readonly verdict: string
    readonly said: string
  }[]
}

/** The shipped scenario with a short search, sent, audited and reported by the command. */
const certified = (
  faults: readonly string[],
  { search = long, expects = 'matches: "\\\\w"' } = {},
): Promise<{ readonly certificate: Certified; readonly page: string; readonly audited: number }> =>
  withFolder(async (cwd) => {
    const [shop, scenario] = [join(cwd, 'shop.yaml'), join(cwd, 'scenario.yaml')]
    writeFileSync(shop, contract)
    cpSync(join(shipped, 'data'), join(cwd, 'data'), { recursive: true })
    const text = readFileSync(join(shipped, 'launch-certificate.yaml'), 'utf8')
    writeFileSync(
      scenario,
      text
        .replaceAll('think: 200ms', 'think: 1ms')
        .replace(/search, load: .*goodput: 95%/, search)
        .replace('matches: "\\\\w"', expects),
    )
    const serve = ['--contract', shop, '--seed', '5', '--ttft', '5ms', '--itl', '1ms']
    return withService(
      [...serve, ...faults.flatMap((each) => ['--fault', each])],
      async ({ baseUrl, keys }) => {
        const env = { ASSAY_API_KEY: keys.at(-1)!.apiKey }
        const by = ['--contract', shop]
        const ran = await assay(['run', scenario, '--base-url', baseUrl, ...by], { cwd, env }).ended
        // 4 says that the machine is too busy for times.
        expect([0, 4], ran.stderr).toContain(ran.code)
        const audit = await assay(['audit', ...by], { cwd, env }).ended
        const json = await assay(['report', 'launch', '--format', 'json', ...by], { cwd }).ended
        await assay(['report', 'launch', ...by], { cwd }).ended
        return {
          certificate: JSON.parse(json.stdout).certificate as Certified,
          page: readFileSync(join(cwd, 'assay-launch.html'), 'utf8'),
          audited: audit.code!,
        }
      },
    )
  })

/** Verdicts by part. The rate of a busy machine is not decided. */
const verdictsOf = ({ parts }: Certified) =>
  Object.fromEntries(parts.map(({ part, verdict }) => [part, verdict]))
const saidOf = ({ parts }: Certified, name: string) => parts.find(({ part }) => part === name)!.said

const whole = { tags: 'whole', timeout: 900_000 }

test('an honest service is certified, or not yet if this machine is too busy', whole, async () => {
  const { certificate, page, audited } = await certified([])
  expect(audited).toBe(0)
  expect(verdictsOf(certificate)).toMatchObject({ answers: 'pass', charges: 'pass' })
  // One honest run in twenty is asked to run again.
  expect(['pass', 'inconclusive']).toContain(verdictsOf(certificate).model)
  expect(saidOf(certificate, 'rate')).toMatch(
    /^Safe rate: [\d.]+\/s .* of its requests ask for one token/,
  )
  const open = certificate.parts.filter(({ verdict }) => verdict !== 'pass')
  expect(certificate.verdict).toBe(open.length === 0 ? 'pass' : 'inconclusive')
  expect(page).toContain(open.length === 0 ? 'Certified: Safe rate:' : 'Not certified yet:')
})

test.each([
  [
    'model',
    ['model-swap-after:1100'],
    /^svc-k2: Under load the answers to 20 fixed prompts differ/,
  ],
  ['charges', ['output-is-total'], /^PRICE-/],
] as const)('the part on %s fails with %j', whole, async (part, faults, said) => {
  const { certificate, page, audited } = await certified(faults)
  expect(audited).toBe(3)
  expect(certificate.verdict).toBe('fail')
  expect(verdictsOf(certificate)).toMatchObject({
    ...{ answers: 'pass', model: 'pass', charges: 'pass' },
    [part]: 'fail',
  })
  expect(saidOf(certificate, part)).toMatch(said)
  expect(page).toContain(`Not certified: ${part} failed`)
})

test(
  'a few wrong answers under load fail the part on answers, though the rate is sustained',
  whole,
  async () => {
    const { certificate } = await certified(['max-tokens-ignored=0.02'], {
      expects: 'matches: "^\\\\S+( \\\\S+){0,15}$"',
    })
    expect(verdictsOf(certificate)).toMatchObject({ answers: 'fail', charges: 'pass' })
    expect(certificate.verdict).toBe('fail')
    expect(saidOf(certificate, 'answers')).toMatch(/ \d+ wrong; a threshold such as correct > 99%/)
  },
)

test(
  'a search that asks for too few first tokens is not decided, and says how many more decide',
  whole,
  async () => {
    const { certificate, page } = await certified([], { search: short })
    expect(verdictsOf(certificate)).toMatchObject({ model: 'inconclusive' })
    expect(certificate.verdict).toBe('inconclusive')
    expect(saidOf(certificate, 'model')).toMatch(
      /^svc-k2: only \d of 10 sessions under load \(\d+ answers\); \d+ more requests for one token, about \d+ (s|min) of this load, decide$/,
    )
    expect(page).toContain('Not certified yet:')
  },
)

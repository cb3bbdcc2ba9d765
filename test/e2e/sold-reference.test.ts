import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { assay, withFolder, withService } from './command.ts'

const shipped = resolve(import.meta.dirname, '../../scenarios')

const shop = (more: string) => `extends: svc
name: shop
currency: USD
models:
  - { id: svc-k2, price: { input: 1, output: 4 }${more} }
`

interface Reasoned {
  readonly plan: string
  readonly said: { readonly verdict: string } & object
}

/** Sends the shipped questions to a service and to its reference, into one store, and audits them, each by the command. */
const reasoned = (own: readonly string[], atReference: readonly string[]) =>
  withFolder(async (cwd): Promise<Reasoned> => {
    writeFileSync(join(cwd, 'served.yaml'), shop(''))
    cpSync(join(shipped, 'data'), join(cwd, 'data'), { recursive: true })
    const text = readFileSync(join(shipped, 'audit-reasoning.yaml'), 'utf8')
    writeFileSync(join(cwd, 'scenario.yaml'), text.replace('think: 1s', 'think: 1ms'))
    // One seed, so that both think as long: with draws of their own, 21 questions are just within or beyond what passes.
    const serve = (faults: readonly string[]) => [
      ...['--contract', join(cwd, 'served.yaml'), '--seed', '5'],
      ...faults.flatMap((each) => ['--fault', each]),
    ]
    return withService(serve(own), (service) =>
      withService(serve(atReference), async (reference) => {
        const contract = join(cwd, 'shop.yaml')
        writeFileSync(contract, shop(`, reference: { base_url: "${reference.baseUrl}" }`))
        const run = (
          to: { readonly baseUrl: string; readonly keys: typeof service.keys },
          ...more: string[]
        ) =>
          assay(
            ['run', 'scenario.yaml', '--base-url', to.baseUrl, '--contract', contract, ...more],
            {
              cwd,
              env: { ASSAY_API_KEY: to.keys.at(-1)!.apiKey },
            },
          ).ended
        const { stdout: plan } = await run(service, '--dry-run')
        for (const to of [service, reference]) expect([0, 4]).toContain((await run(to)).code)
        const audit = ['audit', '--contract', contract, '--rule', 'SOLD-10', '--format', 'json']
        const { findings } = JSON.parse((await assay(audit, { cwd }).ended).stdout)
        return { plan, said: findings[0].verdict }
      }),
    )
  })

test('audit-reasoning says its price before, passes as much reasoning as the reference, and tells five times as much', {
  tags: 'whole',
  timeout: 600_000,
}, async () => {
  const honest = await reasoned(['reasoning-inflation:1'], ['reasoning-inflation:1'])
  // Twenty answers of 4,000 tokens at most, at 4 USD for a million.
  expect(honest.plan).toMatch(/^At most 0\.3\d USD in all/m)
  expect(honest.said).toMatchObject({
    verdict: 'pass',
    note: expect.stringMatching(
      /for 2[01] questions, \d\.\d\d times the reasoning of the reference/,
    ),
  })

  const inflated = await reasoned(['reasoning-inflation:5'], ['reasoning-inflation:1'])
  expect(inflated.said).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(
      /times the reasoning of the reference .* tokens too many in 2[01] requests, which cost 0\.\d+ USD by the contract/,
    ),
  })
})

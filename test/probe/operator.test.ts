import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { assay, withFolder } from '../e2e/command.ts'

interface Ready {
  readonly baseUrl: string
  readonly keys: readonly { readonly apiKey: string }[]
  readonly operatorKey: string | null
}

/** A service in its own process. */
async function serving<T>(
  flags: readonly string[],
  work: (ready: Ready) => Promise<T>,
): Promise<T> {
  const service = assay([
    'serve',
    '--port',
    '0',
    '--json',
    '--ttft',
    '0ms',
    '--itl',
    '0ms',
    ...flags,
  ])
  try {
    return await work(JSON.parse(await service.firstLine()) as Ready)
  } finally {
    service.child.kill()
    await service.ended
  }
}

test(
  'with an operator over HTTP, the command line asks the questions that need balances and a clock',
  { tags: 'whole', timeout: 60_000 },
  () =>
    withFolder((folder) =>
      serving(
        [
          '--operator',
          '--set',
          'bandAt=after-charge',
          '--set',
          'bandChange=reset',
          '--set',
          'sharedEdge=lower',
        ],
        async ({ baseUrl, keys: [key], operatorKey }) => {
          const probed = await assay(
            ['probe', '--base-url', baseUrl, '--operator', baseUrl, '--only', 'G-23,G-24,G-25'],
            {
              cwd: folder,
              env: { ASSAY_API_KEY: key!.apiKey, ASSAY_OPERATOR_KEY: operatorKey! },
            },
          ).ended
          expect(probed).toMatchObject({ code: 0 })
          const { answers } = parse(readFileSync(join(folder, 'profile.yaml'), 'utf8')) as {
            answers: Record<string, { status: string; is: object }>
          }
          expect(answers['G-23']!.is).toEqual({ counts: 'reset' })
          expect(answers['G-24']!.is).toEqual({ basis: 'after the charge' })
          expect(answers['G-25']!.is).toEqual({
            'shared edge': 'lower',
            zero: 'status 403, limit 20',
          })
          const credits = await fetch(`${baseUrl}/user/credits`, {
            headers: { authorization: `Bearer ${key!.apiKey}` },
          })
          // The balance is as it was: it was restored.
          expect(await credits.json()).toMatchObject({ remaining: 100 })
        },
      ),
    ),
)

test(
  'an operator on another machine and a service without one are refused with an explanation',
  { timeout: 60_000 },
  () =>
    withFolder((folder) =>
      serving([], async ({ baseUrl, keys: [key] }) => {
        const probe = ([operator, operatorKey]: readonly [string, string]) =>
          assay(['probe', '--base-url', baseUrl, '--operator', operator, '--only', 'G-24'], {
            cwd: folder,
            env: { ASSAY_API_KEY: key!.apiKey, ASSAY_OPERATOR_KEY: operatorKey },
          }).ended
        const ended = await Promise.all(
          (
            [
              ['http://example.com', 'op'],
              ['ftp://127.0.0.1', 'op'],
              [baseUrl, 'op'],
              [baseUrl, ''],
            ] as const
          ).map(probe),
        )
        expect(ended.map(({ code }) => code)).toEqual([2, 2, 2, 2])
        const [elsewhere, ftp, none, keyless] = ended.map(({ stderr }) => stderr)
        expect(keyless).toContain('expected the key of the operator in ASSAY_OPERATOR_KEY')
        expect(elsewhere).toContain('expected an address of this machine')
        expect(ftp).toContain('expected the address of a service')
        expect(none).toContain('got 404')
        expect(none).toContain('Start the service with --operator')
        for (const { stderr, stdout } of ended) expect(stdout + stderr).not.toContain(key!.apiKey)
      }),
    ),
)

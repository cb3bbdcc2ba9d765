import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { words } from '../../src/run/plan/token-text.ts'
import { assay, withFolder } from './command.ts'

interface Asked {
  readonly temperature: number
  readonly max_tokens: number
  readonly messages: readonly { readonly content: string }[]
}

/** A service that is none of ours: it gives the first token that `answer` says at the nth request for a word. */
async function served(answer: (word: string, nth: number) => string) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const bytes of request) text += String(bytes)
    if (!request.url!.endsWith('/chat/completions')) return response.writeHead(404).end('{}')
    const body = JSON.parse(text) as Asked
    asked.push(body)
    const word = body.messages[0]!.content
    const nth = asked.filter(({ messages }) => messages[0]!.content === word).length
    const message = { role: 'assistant', content: answer(word, nth) }
    return response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        ...{ id: 'c', object: 'chat.completion', created: 0, model: 'big' },
        choices: [{ index: 0, message, finish_reason: 'length' }],
        usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
      }),
    )
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void server.close())
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const searched = (baseUrl: string, more: readonly string[] = []) =>
  withFolder(async (cwd) => {
    const contract =
      'extends: none\nname: shop\ncurrency: USD\nmodels:\n  - { id: big, price: { input: 1, output: 4 } }\n'
    writeFileSync(join(cwd, 'shop.yaml'), contract)
    const probe = ['probe', '--base-url', baseUrl, '--contract', 'shop.yaml']
    const ended = await assay([...probe, '--border-inputs', 'words.txt', ...more], {
      cwd,
      env: { ASSAY_API_KEY: 'sk-of-the-shop-0123456789' },
    }).ended
    const path = join(cwd, 'words.txt')
    const found = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : null
    return { ...ended, found, hasProfile: existsSync(join(cwd, 'profile.yaml')) }
  })

const whole = { tags: 'whole', timeout: 120_000 }
const isEven = (word: string) => words.indexOf(word) % 2 === 0

test(
  'a probe finds the words with two first tokens at temperature 0, and asks no more than it needs',
  whole,
  async () => {
    const { asked, baseUrl } = await served((word, nth) => (isEven(word) && nth > 1 ? 'A' : 'The'))
    const { code, stdout, found, hasProfile } = await searched(baseUrl)
    expect(found).toEqual(words.filter(isEven).slice(0, 20))
    expect([code, hasProfile]).toEqual([0, false])
    expect(stdout).toContain('20 of 39 words have two likely first tokens')
    // Two requests tell each of the twenty, and three each of the nineteen between them.
    expect(asked.length).toBe(20 * 2 + 19 * 3)
    expect(asked.every((each) => each.temperature === 0 && each.max_tokens === 1)).toBe(true)
  },
)

test(
  'a service whose words have one first token each is told of, and no file is written',
  whole,
  async () => {
    const { asked, baseUrl } = await served(() => 'The')
    const { code, stderr, found } = await searched(baseUrl)
    expect(asked.length).toBe(3 * words.length)
    expect([code, found]).toEqual([2, null])
    expect(stderr).toContain(
      `0 of ${words.length} words have two likely first tokens at temperature 0`,
    )
  },
)

test('--max-credits bounds the requests, and --dry-run sends none', whole, async () => {
  const { asked, baseUrl } = await served((_, nth) => (nth > 1 ? 'A' : 'The'))
  const dry = await searched(baseUrl, ['--dry-run'])
  expect([dry.code, asked.length]).toEqual([0, 0])
  expect(dry.stdout).toContain(`At most ${3 * words.length} requests for one token each`)
  const bound = await searched(baseUrl, ['--max-credits', '12'])
  expect(bound.found).toEqual(words.slice(0, 6))
  expect(asked.length).toBe(12)
  // The service gives each word the same token by now: three requests for the first, and one that tells nothing.
  const few = await searched(baseUrl, ['--max-credits', '4'])
  expect([few.code, few.found]).toEqual([2, null])
  expect(few.stderr).toContain('0 of 1 words')
  expect(few.stderr).toContain('Raise --max-credits')
})

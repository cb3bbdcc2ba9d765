import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { installPython, pythonOf } from '../clients/python.ts'

/**
 * The Python that has llama.cpp: one that is given in LLAMA_PYTHON (with the packages of `requirements.txt`), or by night one of our
 * own. Null without either: the tests are skipped.
 */
const llamaPython =
  process.env.LLAMA_PYTHON ??
  (process.env.NIGHTLY === undefined ? null : pythonOf(import.meta.dirname))

export interface LlamaServer {
  readonly origin: string
  stop(): void
}

export function makeModel(...args: readonly string[]): void {
  if (process.env.LLAMA_PYTHON === undefined) installPython(import.meta.dirname)
  execFileSync(llamaPython!, [join(import.meta.dirname, 'model.py'), ...args])
}

/** llama.cpp's own server. @param args the file of the model, slots, and tokens of context */
export async function startLlama(...args: readonly string[]): Promise<LlamaServer> {
  const server = spawn(llamaPython!, [join(import.meta.dirname, 'server.py'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for (let said = ''; ; ) {
    const [bytes] = await once(server.stdout, 'data')
    said += String(bytes)
    const origin = /http:\/\/[\d.:]+/.exec(said)?.[0]
    if (origin !== undefined) return { origin, stop: () => server.kill() }
  }
}

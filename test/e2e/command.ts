import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The command as a user has it: `test/built.ts` builds it before the tests. */
export const main = resolve(import.meta.dirname, '../../dist/cli/main.js')

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A command in progress: a real process, started as a user does. */
export class Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  constructor(
    args: readonly string[],
    environment: NodeJS.ProcessEnv,
    cwd: string,
    within: readonly string[] = [],
  ) {
    const [program, ...words] = [...within, process.execPath, main, ...args]
    this.child = spawn(program!, words, {
      cwd,
      env: { ...process.env, ASSAY_API_KEY: undefined, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', (bytes: Buffer) => {
      this.stdout += bytes.toString()
    })
    this.child.stderr?.on('data', (bytes: Buffer) => {
      this.stderr += bytes.toString()
    })
    this.ended = once(this.child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }))
  }

  /** Waits until standard output has a complete first line. */
  async firstLine(): Promise<string> {
    while (!this.stdout.includes('\n')) {
      const ended = await Promise.race([
        once(this.child.stdout!, 'data').then(() => null),
        this.ended,
      ])
      if (ended !== null) throw new Error(`ended with ${ended.code}: ${ended.stderr}`)
    }
    return this.stdout.slice(0, this.stdout.indexOf('\n'))
  }
}

export function assay(
  args: readonly string[],
  {
    env = {},
    cwd = process.cwd(),
    within = [],
  }: {
    env?: NodeJS.ProcessEnv
    cwd?: string
    /** A program that starts the command, as `ip netns exec NAME`. */
    within?: readonly string[]
  } = {},
): Running {
  return new Running(args, env, cwd, within)
}

/** A temporary folder of one test, removed at its end. */
export function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-e2e-'))
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true }))
}

interface Served {
  readonly baseUrl: string
  readonly keys: readonly { readonly name: string; readonly apiKey: string }[]
}

/** Serves while `use` lasts. */
export async function withService<T>(
  args: readonly string[],
  use: (served: Served) => Promise<T>,
): Promise<T> {
  const service = assay(['serve', '--json', '--port', '0', ...args])
  try {
    return await use(JSON.parse(await service.firstLine()) as Served)
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
  }
}

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { resolve } from 'node:path'

/** A command of a page, and the output that the page shows. */
export interface Shown {
  readonly command: string
  readonly output: readonly string[]
}

/** The commands of a page's blocks of console, in order: lines that begin with `$ `, then their output. */
export function shownIn(markdown: string): readonly Shown[] {
  const shown: { command: string; output: string[] }[] = []
  for (const [, block] of markdown.matchAll(/^```console\n([\s\S]*?)^```/gm)) {
    for (const line of block!.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) shown.push({ command: line.slice(2), output: [] })
      else shown.at(-1)!.output.push(line)
    }
  }
  return shown
}

/**
 * A line without what changes from run to run: figures with their units, ids, keys, and words that
 * depend on the load of the machine.
 */
export function masked(line: string): string {
  return line
    .replace(/sk-svc-\w+/g, 'KEY')
    .replace(/\b(?:chatcmpl-|msg_)\w+/g, 'ID')
    .replace(/\b\d{8}-\d{6}-[0-9a-f]{4}\b/g, 'RUN')
    .replace(/\b(VALID|DEGRADED|INVALID)\b/gi, 'VERDICT')
    .replace(/\bBILL-1[01]\b/g, 'BILL-10 or 11')
    .replace(/[~<>≥+-]*\d[\d,.:TZ-]*( (ms|us|µs|s)\b)?/g, '#')
    .replace(/\b(few|—)(?= |$)/g, '#')
    .replace(/\b(good|fair|poor)\b/g, 'GRADE')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A line `…` at its end fits any rest. */
const fits = (line: string, pattern: string) =>
  masked(pattern) === masked(line) ||
  (pattern.endsWith('…') && masked(line).startsWith(masked(pattern.slice(0, -1))))

/**
 * The first difference of `actual` from `shown`, or null. In `shown`, a line `…` matches any lines
 * and `…` in a line any text.
 */
export function firstDifference(
  shown: readonly string[],
  actual: readonly string[],
): string | null {
  let at = 0
  let isFree = false
  for (const pattern of shown) {
    if (pattern.trim() === '…') {
      isFree = true
      continue
    }
    const found = actual.findIndex((line, index) => index >= at && fits(line, pattern))
    if (found === -1 || (!isFree && found !== at)) {
      return `the page shows\n${pattern}\nand line ${at + 1} is\n${actual[at] ?? '(the end)'}`
    }
    at = found + 1
    isFree = false
  }
  return isFree || actual.slice(at).every((line) => line.trim() === '')
    ? null
    : `the page does not show\n${actual[at]}`
}

/**
 * The lines of a page with the figures, ids and times that the command prints now. A line that no longer fits stays, so that a
 * person looks at it.
 */
export function renewed(shown: readonly string[], actual: readonly string[]): readonly string[] {
  let at = 0
  return shown.map((pattern) => {
    if (pattern.trim() === '…') return pattern
    const found = actual.findIndex((line, index) => index >= at && fits(line, pattern))
    if (found === -1) return pattern
    at = found + 1
    const line = actual[found]!.trimEnd()
    if (!pattern.endsWith('…')) return line
    // As many words as the page shows before it leaves out the rest.
    const words = pattern.slice(0, -1).trimEnd().split(/\s+/).filter(Boolean).length
    const start = new RegExp(`^(?:\\s*\\S+){${words}}`).exec(line)?.[0] ?? line
    return `${start}${pattern.at(-2) === ' ' ? ' ' : ''}…`
  })
}

const root = resolve(import.meta.dirname, '../..')
const assay = `'${process.execPath}' '${resolve(root, 'src/cli/assay.js')}'`

/** A port that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}

/** A terminal in a folder: it runs commands of a page, where `8787` is a port of its own. */
export class Terminal {
  readonly #services: ChildProcess[] = []
  readonly #env: NodeJS.ProcessEnv

  readonly folder: string
  readonly port: number

  constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
    this.#env = { ...process.env, NO_COLOR: '1', COLUMNS: '100' }
    delete this.#env.ASSAY_API_KEY
  }

  /** @returns the output of the command; for a service that keeps running, its first output */
  async run(command: string): Promise<readonly string[]> {
    const variable = /^export (\w+)=(\S+)$/.exec(command)
    if (variable !== null) {
      this.#env[variable[1]!] = variable[2]!
      return []
    }
    const real = command
      .replace(/^npx assay serve/, `npx assay serve --port ${this.port}`)
      .replaceAll('127.0.0.1:8787', `127.0.0.1:${this.port}`)
      .replace(/^npx assay/, `exec ${assay}`)
    const printed = /^npx assay serve/.test(command) ? this.#start(real) : this.#finish(real)
    const lines = (await printed).replaceAll(String(this.port), '8787').trimEnd().split('\n')
    // A slow machine also shows the progress of a command.
    return lines.filter((line) => !/ \| .* done \| /.test(line))
  }

  #start(command: string): Promise<string> {
    const service = spawn('bash', ['-c', command], { cwd: this.folder, env: this.#env })
    this.#services.push(service)
    return new Promise((begun, failed) => {
      let text = ''
      service.stdout.on('data', (piece) => {
        text += piece
        if (text.includes('Ctrl-C stops it.')) begun(text)
      })
      service.once('exit', () => failed(new Error(`the service ended: ${text}`)))
    })
  }

  #finish(command: string): Promise<string> {
    const options = { cwd: this.folder, env: this.#env, maxBuffer: 2 ** 26 }
    return new Promise((ended) => {
      execFile('bash', ['-c', `${command} 2>&1`], options, (_, stdout) => ended(stdout))
    })
  }

  close(): void {
    for (const service of this.#services) {
      service.removeAllListeners('exit')
      service.kill()
    }
  }
}

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { bytesBelow, strictErrors } from './installed.ts'
import { answersOf } from './persons.ts'

/**
 * `npm run newcomer`: what somebody does in the first minutes, in an empty folder, with the packed
 * package and a server that is not ours. No file is written by hand, except those that a guide shows. Then the three persons
 * who decide get their answers, with the seconds to each. It ends with 1 at the first step that fails, and after six minutes, of
 * which two searches take three.
 */
const root = resolve(import.meta.dirname, '../..')
const mostMs = 360_000
let beganMs = performance.now()
const folder = mkdtempSync(join(tmpdir(), 'assay-newcomer-'))
const server = new Worker(new URL('./openai-like.js', import.meta.url))

function must(holds: boolean, what: string): void {
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1)
  process.stdout.write(`${seconds.padStart(6)} s  ${holds ? 'ok  ' : 'FAIL'}  ${what}\n`)
  if (!holds) throw new Error(what)
}

function assay(...words: readonly string[]) {
  const ended = spawnSync('npx', ['--no', 'assay', ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ASSAY_API_KEY: 'key-one', NO_COLOR: '1' },
  })
  if (ended.status !== 0) process.stderr.write(`${ended.stdout}${ended.stderr}`)
  return ended
}

/** The output of a run whose requests all succeed. A busy machine has two more tries. */
function measured(...words: readonly string[]): string {
  for (let tries = 3; ; tries--) {
    const { status, stdout } = assay(...words)
    if (status === 4 && stdout.includes('Result is: INVALID') && tries > 1) continue
    must(status === 0, `assay ${words[0]} ends with exit code ${status}`)
    const [, sent] = /= sent ([\d,]+) \+ not sent 0\n/.exec(stdout) ?? []
    must(sent !== undefined && stdout.includes(`sent = ok ${sent} +`), `all ${sent} are whole`)
    must(!/NaN|undefined/.test(stdout), 'no figure is NaN or undefined')
    return stdout
  }
}

try {
  const port = await new Promise<number>((listening) => server.once('message', listening))
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      ...{ cwd: root, encoding: 'utf8' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).replace(/^[^[{]*/, ''),
  ) as readonly { readonly filename: string; readonly size: number }[]
  const { filename, size } = packed[0]!
  must(existsSync(join(folder, filename)), `npm pack: ${(size / 1e6).toFixed(1)} MB`)
  // Here the newcomer begins.
  beganMs = performance.now()
  const npm = (...words: readonly string[]) =>
    execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] }).toString()
  npm('init', '-y')
  npm('install', `./${filename}`)
  const packages = npm('ls', '--omit=dev', '--all', '--parseable').trim().split('\n').length - 1
  must(packages < 20, `npm install: ${packages} packages, fewer than 20`)
  const megabytes = bytesBelow(join(folder, 'node_modules')) / 1e6
  must(megabytes < 115, `they take ${megabytes.toFixed(0)} MB, less than 115`)
  const errors = strictErrors(folder)
  must(errors === '', `the types compile strictly without an optional package ${errors}`)

  const url = `http://127.0.0.1:${port}/openai/v1`
  const search = measured('bench', url, '--for', '100s', '--max-rate', '40/s')
  const safe = Number(/safe rate: ([\d.]+)\/s/i.exec(search)?.[1])
  must(safe > 0 && safe <= 40, `assay bench of a path prefix, without credits: safe at ${safe}/s`)
  must(statSync(join(folder, 'assay-launch.html')).size > 50_000, 'it writes a page')
  for (const time of ['first', 'second']) {
    // 300 requests decide the errors, too.
    const load = ['--rate', '70/s', '--duration', '5s', '--slo', 'ttft.p50 < 1s']
    const text = measured('bench', url, ...load)
    must(/ttft\.p50 < 1s +held/.test(text), `assay bench at one rate, the ${time} time`)
  }

  const runs = JSON.parse(assay('runs', '--json').stdout) as readonly { readonly runId: string }[]
  const [after, before] = runs.map(({ runId }) => runId)
  must(runs.length >= 3, 'assay runs lists them')
  const gate = ['--fail-on', 'errors > +50%']
  const compared = assay('compare', before!, after!, ...gate)
  must(compared.status === 0, 'assay compare, with a gate that holds')
  must(assay('report', 'launch', '--out', 'again.html').status === 0, 'assay report launch')
  must(readFileSync(join(folder, 'again.html'), 'utf8').includes('Launch report'), 'it is a page')
  for (const { who, answer, seconds } of answersOf(url, folder, assay)) {
    must(answer !== null, `${who} ${answer ?? 'no answer'}, after ${seconds.toFixed(1)} s`)
  }
  must(performance.now() - beganMs < mostMs, 'all of it in under six minutes')
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await server.terminate()
  rmSync(folder, { recursive: true })
}

import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A shell that finds `assay` as somebody has it who installed it. @param place a folder for the program */
export function shellIn(place: string) {
  const bin = join(place, 'bin')
  mkdirSync(bin, { recursive: true })
  const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/cli/assay.js')}' "$@"\n`
  writeFileSync(join(bin, 'assay'), program)
  chmodSync(join(bin, 'assay'), 0o755)
  const path = `${bin}:${process.env.PATH}`
  return (line: string, cwd: string, keys: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    promisify(execFile)('sh', ['-c', line], {
      ...{ cwd, env: { ...process.env, PATH: path, ...keys }, maxBuffer: 1 << 26 },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
    )
}

/** The commands that the text of an audit prints to be copied, by rule. */
export const printedIn = (text: string): readonly (readonly [rule: string, line: string])[] =>
  [
    ...text.matchAll(
      /^(?:FAILED|ADVISED) {2}(\S+)(?:(?!^FAILED|^ADVISED)[\s\S])*?^ {2}reproduce (.*)$/gm,
    ),
  ].map(([, rule, line]) => [rule!, line!] as const)

/** The same, of a page. */
export const onPage = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/<dt>reproduce<\/dt><dd><code>(.*?)<\/code>/gs)].map(
    ([, code]) =>
      code!
        .replace(/<\/?span[^>]*>/g, '')
        .replace(/&#(\d+);/g, (_all, sign: string) => String.fromCharCode(Number(sign))),
  )

export const observedOf = (text: string): readonly string[] =>
  [...text.matchAll(/^ {2}observed {2}(.*)$/gm)].map(([, words]) => words!)

import { z } from 'zod'
import { keyPlaceholder, spoiledKeyPlaceholders } from '../../attempt/shown-key.ts'
import type { Reader } from '../../store/session/session.ts'
import { jsonEscape, withoutHostile } from '../../user/hostile.ts'
import { commandText, quoted } from '../../user/shell-word.ts'
import { allRules } from '../rules/list.ts'
import type { Finding, Witness } from '../verdict.ts'

interface Asked {
  readonly baseUrl: string
  readonly method: string
  readonly path: string
  readonly headers: string
  readonly body: string | null
  /** JSON of the run's keys, each with its variable; null if unknown. */
  readonly keys: string | null
  readonly account: string | null
}

export interface Failure {
  readonly rule: string
  readonly witnesses: readonly [Witness, ...Witness[]]
}

export const failuresOf = (findings: readonly Finding[]): readonly Failure[] =>
  findings.flatMap(({ rule, verdict }) =>
    verdict.verdict === 'fail' ? [{ rule, witnesses: verdict.witnesses }] : [],
  )

/**
 * For each failed rule, a command that sends its first witness's request again; both first ones at once for concurrency. Of requests with
 * prompts of their own it sends the stored one (`isSharedTemplate`).
 */
export async function reproductions(
  store: Reader,
  failures: readonly Failure[],
): Promise<ReadonlyMap<string, string>> {
  const commands = new Map<string, string>()
  for (const { rule, witnesses } of failures) {
    const [first, second = first] = witnesses
    const asked = await askedBy(store, first)
    if (asked === null) continue
    const isAtOnce = allRules.some(({ id, isOfConcurrency }) => id === rule && isOfConcurrency)
    const concurrent = isAtOnce ? ((await askedBy(store, second)) ?? asked) : null
    commands.set(
      rule,
      concurrent === null ? curlOf(asked) : atOnce([curlOf(asked), curlOf(concurrent)]),
    )
  }
  return commands
}

/** Longer commands are hard to copy, and may be too long for a shell; in text they push the finding off the screen. */
const longestCommand = { inText: 800, elsewhere: 8_000 }

/**
 * The commands to print, each too long one replaced by one that prints it. `audit` found the rules broken, as what was given
 * decides which fail.
 */
export function shortened(
  commands: ReadonlyMap<string, string>,
  audit: readonly string[],
  isText: boolean,
): ReadonlyMap<string, string> {
  const longest = isText ? longestCommand.inText : longestCommand.elsewhere
  const again = (rule: string) => `${commandText([...audit, '--again', rule])} | sh`
  return new Map(
    [...commands].map(([rule, command]) => [
      rule,
      command.length <= longest ? command : again(rule),
    ]),
  )
}

/** For each rule that a log breaks by itself, the command that judges its rows again: no request of it is known. */
export const judgedAgain = (
  findings: readonly Finding[],
  audit: readonly string[],
): ReadonlyMap<string, string> =>
  new Map(failuresOf(findings).map(({ rule }) => [rule, commandText([...audit, '--rule', rule])]))

async function askedBy(store: Reader, witness: Witness): Promise<Asked | null> {
  const [asked] = await store.rows<Asked>(
    `SELECT base_url AS "baseUrl", method, path, templates.headers, templates.body, account,
            json_extract_string(scenario_json, '$.keys') AS keys
     FROM attempts JOIN templates USING (run_id, template) JOIN runs USING (run_id)
     WHERE run_id = $1 AND slot = $2 AND retry = $3 LIMIT 1`,
    [witness.runId, BigInt(witness.slot), witness.retry],
  )
  return asked ?? null
}

/** Runs commands in parallel in one shell. Commands with several lines get a subshell. */
export function atOnce(commands: readonly string[]): string {
  const own = (command: string) => (command.includes('\n') ? `( ${command}\n)` : command)
  return `${commands.map((command) => `${own(command)} &`).join(' ')} wait`
}

/** Systems limit an argument to 128 KiB, some to less. */
const longestArgument = 60_000

/** A curl command for any POSIX shell. It has several lines if the body is too long for an argument. */
export function curlOf({ baseUrl, method, path, headers, body, keys, account }: Asked): string {
  const withKey = quotedWith(variableOf(keys, account))
  const parts = ['curl -sS -i']
  if (method !== 'GET') parts.push(`-X ${method}`)
  for (const [name, value] of Object.entries(JSON.parse(headers) as Record<string, string>))
    parts.push(`-H ${withKey(`${name}: ${value}`)}`)
  const text = body === null ? null : printableBody(body)
  const isLong = text !== null && text.length > longestArgument
  if (text !== null) parts.push(isLong ? '--data-binary @-' : `--data-raw ${withKey(text)}`)
  const url = URL.canParse(path, baseUrl) ? new URL(path, baseUrl).href : `${baseUrl}${path}`
  parts.push(withKey(url))
  return isLong ? `${parts.join(' ')} ${heredoc(text)}` : parts.join(' ')
}

/** A body with JSON's escapes for characters that a terminal does not show. Without strings of JSON, none is there. */
function printableBody(body: string): string {
  try {
    JSON.parse(body)
  } catch {
    return body
  }
  return withoutHostile(body, jsonEscape, '\n\r\t')
}

/** A here-document, with an end line that the text does not contain. */
function heredoc(text: string): string {
  let end = 'END-OF-BODY'
  while (text.includes(end)) end += '-'
  return `<<'${end}'\n${text}\n${end}`
}

/** Shell words that produce the sent key from the real one, by placeholder. */
const keyWords = new Map<string, (variable: string) => string>([
  [keyPlaceholder, (name) => `"$${name}"`],
  [
    spoiledKeyPlaceholders.altered,
    (name) => `"\${${name}%?}$(case "$${name}" in *0) echo 1;; *) echo 0;; esac)"`,
  ],
  [spoiledKeyPlaceholders.recased, (name) => `"$(printf %s "$${name}" | tr a-zA-Z A-Za-z)"`],
])

const scenarioKeys = z.array(
  z.object({ account: z.string(), source: z.object({ env: z.string().regex(/^[A-Za-z_]\w*$/) }) }),
)

/** The variable with the first key of the account; ASSAY_API_KEY if unknown. */
function variableOf(keys: string | null, account: string | null): string {
  const known = keys === null ? null : scenarioKeys.safeParse(JSON.parse(keys))
  const key = known?.data?.find((each) => each.account === account)
  return key?.source.env ?? 'ASSAY_API_KEY'
}

/** Quotes text, but expands the placeholder of the key. */
function quotedWith(variable: string): (text: string) => string {
  return (text) =>
    text
      .split(/(\$ASSAY_API_KEY(?:-with-[a-z-]+)?)/)
      .map((piece) => keyWords.get(piece)?.(variable) ?? (piece === '' ? '' : quoted(piece)))
      .join('')
}

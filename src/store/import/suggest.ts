import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { mappedName, tokenKinds, tokenNames } from '../../tokens/kinds.ts'
import { csvDelimiter } from '../../user/csv.ts'
import { plainText } from '../../user/hostile.ts'
import { isObject } from '../../user/json.ts'
import { lookup } from '../../user/lookup.ts'
import { userError } from '../../user/user-error.ts'
import { beginningOf } from './csv-header.ts'
import { csvDocuments, jsonDocuments } from './formats/documents.ts'
import type { Fields } from './formats/row.ts'
import { alikeIn } from './key-forms.ts'
import { isJson, knownFormat } from './recognised-log.ts'
import { decodedFile } from './whole/decoded-file.ts'

/** Lines that a suggestion looks at. */
const looked = 200

/** A column or a path of a log, with the first value that it has. */
export interface SeenColumn {
  readonly name: string
  readonly value: string
}

/** The columns of the first lines of a plain file, each with one value. */
export function columnsSeen(path: string): readonly SeenColumn[] {
  const seen = new Map<string, string>()
  let lines = 0
  const documents = isJson(path)
    ? jsonDocuments(path)
    : csvDocuments(path, csvDelimiter(beginningOf(path)))
  for (const document of documents) {
    if (lines++ === looked) break
    if (!('unread' in document)) addColumns(seen, document, '', 0)
  }
  return [...seen].map(([name, value]) => ({ name, value }))
}

const deepest = 5

/** A value that is a key, or may hold one, is not shown. */
const isSecret = (name: string, text: string) =>
  alikeIn(text).length > 0 ||
  (/(key|authorization|secret|password|token|hash)$/i.test(name) &&
    text.length >= 8 &&
    !/^[\d.]+$/.test(text))

/** A name or value of a foreign file, safe for a terminal. */
export const shownText = (text: string) => plainText(text).replace(/\s+/g, ' ').trim().slice(0, 80)

function addColumns(seen: Map<string, string>, document: Fields, before: string, depth: number) {
  for (const [name, value] of Object.entries(document)) {
    const path = `${before}${name}`
    if (isObject(value) && depth < deepest) addColumns(seen, value, `${path}.`, depth + 1)
    else if (!seen.get(path)) {
      const text =
        value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
      seen.set(path, isSecret(name, text) ? '…' : text.slice(0, 60))
    }
  }
}

const last = '(^|[._ ])'
/** Names that columns of a field have in public logs, best first. Matched against the end of a path. */
const names: Readonly<Record<string, RegExp>> = lookup({
  id: new RegExp(`${last}(request_?id|generation_?id|trace_?id|message\\.id|id)$`, 'i'),
  time: new RegExp(
    `${last}(timestamp|created_?at|start_?time|started_?at|time|date|datetime|usage_start_date|ts|created)$`,
    'i',
  ),
  model: new RegExp(`${last}(model|model_?name|model_?id|base_model_name)$`, 'i'),
  account: new RegExp(
    `${last}(account|customer|user_?name|user_?id|team_?id|tenant|email|subject|user)$`,
    'i',
  ),
  key: new RegExp(`${last}(api_?key)$`, 'i'),
  lastFour: new RegExp(`${last}((api_?)?key_?(redacted|hint|last_?(4|four)))$`, 'i'),
  credits: new RegExp(
    `${last}(cost|spend|total_?cost|cost_?usd|amount|charge|price|credits|net_amount)$`,
    'i',
  ),
  unit: new RegExp(`${last}(currency|currency_?code|billing_?currency)$`, 'i'),
  ...Object.fromEntries(
    tokenNames.flatMap((name) => {
      const { called } = tokenKinds[name]
      return called === null ? [] : [[mappedName(name), new RegExp(`${last}(${called})$`, 'i')]]
    }),
  ),
  status: new RegExp(`${last}(status_?code|http_?status|status)$`, 'i'),
})

/** The fields that a file's columns look like. The shortest path of a name comes first. */
function fieldsOf(columns: readonly SeenColumn[]): Readonly<Record<string, string>> {
  const taken = new Set<string>()
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, pattern]) => {
      const found = columns
        .filter(({ name, value }) => !taken.has(name) && pattern.test(name) && fits(field, value))
        .sort((a, b) => a.name.split('.').length - b.name.split('.').length)[0]
      if (found === undefined) return []
      taken.add(found.name)
      return [[field, found.name]]
    }),
  )
}

/** Whether a value can be one of a field. */
function fits(field: string, value: string): boolean {
  if (field === 'status') return /^[1-5]\d\d$/.test(value)
  if (field === 'time') return /\d{2}/.test(value)
  if (/Tokens$/.test(field)) return value === '' || /^\d+$/.test(value)
  return true
}

/** A mapping to begin with, as YAML: the fields that the names of the columns show, and all columns as comments. */
export function suggestedMapping(name: string, columns: readonly SeenColumn[]): string {
  const fields = fieldsOf(columns)
  const amount = fields.promptTokens ?? fields.completionTokens ?? fields.credits
  const kinds = columns.find(({ value }) => /^(input|output|prompt|completion)$/i.test(value))
  const counted = columns.find(
    ({ name, value }) =>
      /(^|[._])(tokens|quantity|amount|value)$/i.test(name) && /^\d+$/.test(value),
  )
  const isByKind = kinds !== undefined && counted !== undefined && fields.promptTokens === undefined
  const mapping = {
    source: name.replace(/^.*\//, '').replace(/\..*$/, ''),
    // Lines of other kinds have no amounts, such as those of users in a log of sessions.
    ...(amount?.includes('.') ? { where: { present: amount } } : {}),
    ...(fields.cachedTokens !== undefined && /cache_?read/i.test(fields.cachedTokens)
      ? { cached: 'separate' }
      : {}),
    ...(isByKind
      ? {
          quantity: {
            column: counted.name,
            kind: {
              column: kinds.name,
              values: { prompt: 'input', system: 'input', completion: 'output' },
            },
          },
        }
      : {}),
    fields: fields.time === undefined ? { time: '?', ...fields } : fields,
  }
  const quoted = shownText
  return [
    `# A mapping to begin with (docs/importing.md). Columns of ${shownText(name)}, each with one value:`,
    ...columns
      .slice(0, 200)
      .map(({ name: column, value }) => `#   ${quoted(column)}: ${quoted(value)}`),
    stringify(mapping).trimEnd(),
    '',
  ].join('\n')
}

/**
 * A first mapping of a log that no format knows.
 *
 * @throws UserError for a missing file, and for one that needs no mapping
 */
export async function suggestMapping(file: string): Promise<string> {
  if (!existsSync(file)) throw userError.usage(`${file}: no such file`)
  const scratch = mkdtempSync(join(tmpdir(), 'assay-suggest-'))
  try {
    const { path } = await decodedFile(file, join(scratch, 'text'))
    const known = knownFormat(path)
    if (known !== null) {
      throw userError.usage(
        `${file} is ${known.name}: it needs no mapping. Import it without --map.`,
      )
    }
    return suggestedMapping(file, columnsSeen(path))
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

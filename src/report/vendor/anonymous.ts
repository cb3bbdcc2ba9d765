import { csvDocuments } from '../../store/import/formats/documents.ts'

/**
 * Fields of logs that name an account, a user or a key. `key` and `account` stand for every field whose name ends so; names of
 * cloud accounts and of FOCUS are those of their files.
 */
const naming =
  /^(?:.*[_.]?(?:account|user|team|org|organization|workspace|project|customer|username|email|enduser)(?:[_.]?(?:id|name|alias|email))?|(?:.*_)?(?:api_?)?key(?:_?(?:name|alias|hash))?|token_name|app_name|end_user|subscription(?:id|name)|resourcegroupname|subaccount(?:id|name)|billingaccount(?:id|name))$/i

/** Numbers in place of names: the same name is always the same number. */
class Numbers {
  readonly #numbers = new Map<string, number>()

  of(name: string): string {
    const nth = this.#numbers.get(name) ?? this.#numbers.size + 1
    this.#numbers.set(name, nth)
    return `account ${nth}`
  }
}

/**
 * A field of JSON with its value: `"user": "Ann"`, and `\\"user\\": \\"Ann\\"` in a text that is JSON itself. All other letters of a
 * line stay, and with them the digits of its numbers.
 */
const named =
  /("(?:[^"\\]|\\.)*")(\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d+(?![\d.eE]))|(\\"[^"\\]*\\")(\s*:\s*)(\\"[^"\\]*\\"|-?\d+(?![\d.eE]))/g

const bare = (text: string) => text.replace(/^\\?"|\\?"$/g, '')

/** The lines of a JSON text with numbers in place of the names of accounts, users and keys. */
export function* anonymousJson(lines: Iterable<string>): Generator<string> {
  const numbers = new Numbers()
  for (const line of lines) yield hidden(line, numbers)
}

function hidden(text: string, numbers: Numbers): string {
  return text.replace(
    named,
    (whole, plainName, plainBetween, plainValue, innerName, innerBetween, innerValue) => {
      const [name, between, value]: string[] =
        plainName === undefined
          ? [innerName, innerBetween, innerValue]
          : [plainName, plainBetween, plainValue]
      if (!naming.test(bare(name!))) {
        // A text may be JSON with names of its own.
        return value!.includes('\\"')
          ? `${name}${between}"${hidden(bare(value!), numbers)}"`
          : whole
      }
      if (bare(value!) === '') return whole
      const quote = name!.startsWith('"') ? '"' : '\\"'
      return `${name}${between}${quote}${numbers.of(bare(value!))}${quote}`
    },
  )
}

/** The same for CSV. Cells are written as they are read: whatever a spreadsheet makes of them, the judge reads text. */
export function* anonymousCsv(path: string, delimiter: string): Generator<string> {
  const numbers = new Numbers()
  const cell = (text: string) =>
    /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text
  let hasHeader = false
  for (const row of csvDocuments(path, delimiter)) {
    // A row with other cells than the header cannot be judged, and may hold a name anywhere.
    if ('unread' in row) continue
    if (!hasHeader) yield Object.keys(row).map(cell).join(delimiter)
    hasHeader = true
    yield Object.entries(row)
      .map(([name, text]) =>
        cell(naming.test(name) && text !== '' ? numbers.of(`${text}`) : `${text}`),
      )
      .join(delimiter)
  }
}

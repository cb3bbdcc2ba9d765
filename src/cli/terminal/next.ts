import { shownBaseUrl } from '../../contract/base-url.ts'
import { commandText } from '../../user/shell-word.ts'

/** The store of commands that name none. */
const usualStore = 'assay.duckdb'

/**
 * The last line of a command for a person: the next command, with the files that were just used. The reason is a comment of a
 * shell, so that the line after `Next: ` can be copied whole. Addresses lose what may be a password.
 *
 * @param words the next command, without `assay`
 * @param does what it does, without a subject: `makes a page`
 */
export function nextLine(words: readonly string[], does: string): string {
  const shown = words.map((word, at) => withoutPassword(word, words[at - 1] ?? ''))
  return `Next: ${commandText(shown)}  # ${does}\n`
}

/** The options that name the store and the contract, without those that are the default. */
export const storeWords = (db: string): readonly string[] => (db === usualStore ? [] : ['--db', db])
export const contractWords = (contract: string | undefined): readonly string[] =>
  contract === undefined ? [] : ['--contract', contract]

export const optionWords = (
  option: string,
  values: string | readonly string[] | undefined,
): readonly string[] => [values ?? []].flat().flatMap((value) => [option, value])

/** The command that is running, without one of its options that have no value. */
export const sameCommandWithout = (option: string): readonly string[] =>
  process.argv.slice(2).filter((word) => word !== option)

/**
 * An address may stand behind the name of an option and `=`, and may lack its scheme. A header is sent as it is copied, so it keeps its
 * query. Of a server to join, all before the host may be a token.
 *
 * @param before the word before it
 */
function withoutPassword(word: string, before: string): string {
  const option = /^--[a-z-]+(?==)/.exec(word)?.[0] ?? before
  if (option === '--header') return word.replace(/:\/\/[^\s/?#]*@/g, '://…@')
  if (option === '--join') return word.replace(/^(--join=)?([a-z]+:\/\/)?.*@/is, '$1$2…@')
  return word
    .replace(/(?:[a-z][a-z\d+.-]*:\/\/|https?:\/).*$/is, shownBaseUrl)
    .replace(/(^|=)[^\s:/=@]+:[^\s/]*@/, '$1…@')
}

/** The next command, where standard output is for a program: only a person at a terminal gets it, on standard error. */
export function sayNextToPerson(words: readonly string[], does: string): void {
  if (process.stdout.isTTY && process.stderr.isTTY) process.stderr.write(nextLine(words, does))
}

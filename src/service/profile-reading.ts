import { type Document, isMap, isScalar, LineCounter } from 'yaml'
import { isObject } from '../user/json.ts'
import { readTextOr } from '../user/read-text.ts'
import { userError } from '../user/user-error.ts'
import { yamlDocument } from '../user/yaml.ts'
import { type Profile, type ProfileAnswers, parseProfile } from './profile.ts'

/**
 * The profile of a file and of `--set` flags. The flags win.
 *
 * @param path YAML or JSON; undefined for no file
 * @param assignments such as `reset=epoch-s` and `counts.rate=true`
 * @throws UserError that names every invalid answer and its line
 */
export function readProfile(path: string | undefined, assignments: readonly string[]): Profile {
  const file = path === undefined ? {} : answersIn(path)
  const flags = answersOf(assignments)
  // The flags alone come first, so that an error in a flag is not reported as the file's.
  parseProfile(flags, '--set')
  const both: ProfileAnswers = { ...file, ...flags, counts: { ...file.counts, ...flags.counts } }
  return parseProfile(both, path ?? '--set')
}

function answersIn(path: string): ProfileAnswers {
  const unreadable = `--profile: expected a readable YAML or JSON file; got "${path}"`
  const text = readTextOr(path, () => userError.service(unreadable))
  const lines = new LineCounter()
  const document = yamlDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) {
    throw userError.service(
      `${path}: line ${error.linePos?.[0].line ?? 1}: expected YAML: ${firstLine(error.message)}`,
    )
  }
  const answers: unknown = document.toJS() ?? {}
  if (!isObject(answers)) {
    throw userError.service(`${path}: expected "question: answer" lines; got something else`)
  }
  parseProfile(answers, path, (place) => lineOf(document, lines, place))
  return answers
}

/** Turns `reset=epoch-s` and `counts.rate=true` into answers that are not checked yet. */
function answersOf(assignments: readonly string[]): ProfileAnswers {
  // Without a prototype, so that a question named __proto__ is refused too.
  const answers: Record<string, unknown> = Object.create(null)
  for (const assignment of assignments) {
    const equalsAt = assignment.indexOf('=')
    const answer = assignment.slice(equalsAt + 1)
    // precedence=a,b is short for precedence=[a,b].
    const isListWithoutBrackets = assignment.startsWith('precedence=') && !answer.includes('[')
    const value = yamlDocument(isListWithoutBrackets ? `[${answer}]` : answer)
    if (equalsAt < 1 || value.errors.length > 0) {
      throw userError.service(
        `--set: expected question=answer, such as reset=epoch-s; got "${assignment}"`,
      )
    }
    const [question, ...rest] = assignment.slice(0, equalsAt).split('.')
    if (rest.length === 0) answers[question!] = value.toJS()
    else {
      const group = answers[question!]
      answers[question!] = {
        ...(typeof group === 'object' && group !== null ? group : {}),
        [rest.join('.')]: value.toJS(),
      }
    }
  }
  return answers
}

/** The line of the last key on the way to a place in the file. */
function lineOf(
  document: Document,
  lines: LineCounter,
  place: readonly PropertyKey[],
): number | null {
  let node: unknown = document.contents
  let line: number | null = null
  for (const part of place) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === part)
      : undefined
    if (!isScalar(pair?.key) || !pair.key.range) break
    line = lines.linePos(pair.key.range[0]).line
    node = pair.value
  }
  return line
}

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').replace(/ at line .*$/, '')

import { sqlName } from '../src/attempt/columns.ts'
import { knownColumn } from '../src/measure/usage/quantities.ts'
import { mappedName, shownTokens, tokenKinds, tokenNames } from '../src/tokens/kinds.ts'
import { table } from './table.ts'

/** The text of docs/quantities.md; a test compares them. */
export function quantitiesReference(): string {
  const code = (text: string) => `\`${text}\``
  const rows = tokenNames.map((name) => {
    const { column, within, title } = tokenKinds[name]
    const isShown = shownTokens.some((each) => each === name)
    return [
      title,
      isShown ? code(name) : '–',
      isShown ? code(`${sqlName(name)}_tokens`) : '–',
      code(mappedName(name)),
      code(column),
      code(knownColumn(name)),
      within === null ? '–' : tokenKinds[within].title,
    ]
  })
  return `${[
    '# Kinds of tokens',
    '<!-- Made by npm run reference; do not edit. -->',
    `Usage tells these kinds of tokens apart wherever it stands: in imports, sums, JSON, the API, pages and files.
\`src/tokens/kinds.ts\` defines each once. A kind that nothing reports is unknown, never 0.`,
    table(
      [
        'what',
        'in JSON, in the API, and as `kind` of a `quantity`',
        'in files of sums',
        'in a mapping',
        'in the store, in quarters and in ClickHouse',
        'requests that report it, in quarters',
        'part of',
      ],
      rows,
    ),
    `In [quarters](usage.md#the-table-of-quarters) each of these columns is a BIGINT: the sum of what is known, null without any. A file that leaves
out the number of requests that report a kind has \`requests\` of them, or none without the kind.`,
  ].join('\n\n')}\n`
}

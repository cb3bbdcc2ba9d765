import { mostTags, tagDimension } from '../../measure/usage/tags.ts'
import { identifier } from '../literal.ts'
import { longestName } from './field-sql.ts'
import type { Mapping } from './mapping.ts'
import { type ColumnReader, placeSql } from './places.ts'
import { absentField, type StagedField } from './staged-field.ts'

/** The tags of a line: a column for each, such as `tag:team`, which `stage.ts` makes one JSON text once keys are hidden; or all as a store has them. `wrong` reads the staged column. */
export function stagedTags(
  { tags = [], tagsColumn }: Mapping,
  reader: ColumnReader,
): readonly StagedField[] {
  if (tagsColumn !== undefined) return [storedTags(`nullif(${reader.text(tagsColumn)}, '')`)]
  const named = tags.map(([tag, place]): StagedField => {
    const name = identifier(tagDimension(tag))
    const sql = `nullif(${placeSql(place, reader)}, '')`
    const wrong = `coalesce(length(${name}) > ${longestName}, false)`
    return { name, sql, wrong, expected: `at most ${longestName} characters`, observed: sql }
  })
  return [...named, absentField('tags', 'VARCHAR')]
}

function storedTags(sql: string): StagedField {
  const wrongName = String.raw`NOT regexp_full_match(tag, '[^\x00-\x1f\x7f:=,]{1,50}')`
  const wrongValue = `json_type(value) <> 'VARCHAR' OR length(value ->> '$') > ${longestName}`
  const isRight = [
    `TRY(json_type(tags)) = 'OBJECT'`,
    `len(TRY(json_keys(tags))) <= ${mostTags}`,
    `len(list_filter(TRY(json_keys(tags)), lambda tag: ${wrongName})) = 0`,
    `len(list_filter(TRY(json_extract(tags, '$.*')), lambda value: ${wrongValue})) = 0`,
  ].join(' AND ')
  return {
    name: 'tags',
    sql,
    wrong: `CASE WHEN tags IS NULL THEN false ELSE NOT coalesce(${isRight}, false) END`,
    expected: `a JSON object of at most ${mostTags} texts, each of at most ${longestName} characters`,
    observed: sql,
  }
}

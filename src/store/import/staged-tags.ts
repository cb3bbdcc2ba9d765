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
  const isRight = `TRY(json_type(tags)) = 'OBJECT' AND len(TRY(json_keys(tags))) <= ${mostTags}`
  return {
    name: 'tags',
    sql,
    wrong: `CASE WHEN tags IS NULL THEN false ELSE NOT coalesce(${isRight}, false) END`,
    expected: `a JSON object of at most ${mostTags} texts`,
    observed: sql,
  }
}

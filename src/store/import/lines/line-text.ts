import { at, type Fields } from '../formats/row.ts'
import type { Place } from '../mapping.ts'
import type { Condition } from './line-rules.ts'

/** Whether a line meets all conditions. */
export function holds(document: Fields, conditions: readonly Condition[]): boolean {
  return conditions.every((each) => {
    const text = columnText(document, each.column)
    if ('present' in each) return (text !== null) === each.present
    if ('not' in each) return text === null || !each.not.includes(text)
    return text !== null && each.is.includes(text)
  })
}

/** The text of a column or a path; null if it is absent, null or empty. */
export function columnText(document: Fields, column: string | readonly string[]): string | null {
  const value =
    typeof column !== 'string'
      ? at(document, ...column)
      : Object.hasOwn(document, column)
        ? document[column]
        : at(document, ...column.split('.'))
  if (value === null || value === undefined || value === '') return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The text of a field, from its place in a line. */
export function placeText(document: Fields, place: Place): string | null {
  if (typeof place === 'string') return columnText(document, place)
  if ('value' in place) return place.value
  const text = columnText(document, place.column)
  if (text === null) return null
  const inside =
    place.json === undefined
      ? text
      : columnText({ text }, [
          'text',
          ...(typeof place.json === 'string' ? place.json.split('.') : place.json),
        ])
  const values = place.values ?? {}
  return inside !== null && Object.hasOwn(values, inside) ? values[inside]! : inside
}

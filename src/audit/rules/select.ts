import { UserError } from '../../user/user-error.ts'
import type { Rule } from '../rule.ts'
import { allRules } from './list.ts'

/**
 * @param wanted ids such as `BILL-11` or families such as `BILL`, in any case; empty for all
 * @param option that named them, for the error
 * @throws UserError naming the unknown ones
 */
export function selectRules(wanted: readonly string[], option = '--rule'): readonly Rule[] {
  if (wanted.length === 0) return allRules
  const names = wanted.map((name) => name.toUpperCase())
  const known = (name: string) => allRules.some((rule) => answersTo(rule, name))
  const strangers = names.filter((name) => !known(name))
  if (strangers.length > 0) {
    const families = [...new Set(allRules.map((rule) => familyOf(rule.id)))]
    throw new UserError(
      'usage',
      `${option}: no rule is called ${strangers.join(', ')}. Expected an id such as ${allRules[0]?.id}, or a family: ${families.join(', ')}.`,
    )
  }
  return allRules.filter((rule) => names.some((name) => answersTo(rule, name)))
}

/**
 * Rules of the rulebook by name, and rules of a caller's own, in the order of the rulebook, the own ones last.
 *
 * @throws UserError naming the unknown ones, and own rules whose id is taken
 */
export function chooseRules(wanted: readonly (string | Rule)[]): readonly Rule[] {
  const names = wanted.filter((each) => typeof each === 'string')
  const given = wanted.filter((each) => typeof each !== 'string')
  const own = given.filter((rule) => !isOfRulebook(rule))
  const ids = new Set(allRules.map(({ id }) => id))
  for (const { id } of own) {
    if (ids.has(id))
      throw new UserError(
        'usage',
        `rules: the id ${id} of a rule of your own is taken. Expected another id, such as MINE-01.`,
      )
    ids.add(id)
  }
  if (given.length > 0 && names.length === 0) return given
  const named = selectRules(names, 'rules')
  return [...allRules.filter((rule) => named.includes(rule) || given.includes(rule)), ...own]
}

export const isOfRulebook = (rule: Rule) => allRules.includes(rule)

const familyOf = (id: string) => id.slice(0, id.indexOf('-'))
const answersTo = (rule: Rule, name: string) => rule.id === name || familyOf(rule.id) === name

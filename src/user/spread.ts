/** So many of a list at most, evenly spread. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items
  const step = items.length / most
  return Array.from({ length: most }, (_, at) => items[Math.floor(at * step)]!)
}

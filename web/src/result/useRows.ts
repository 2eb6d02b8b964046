import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'

import { fetchRows } from '../api.ts'
import type { Cell, Result, Rows } from '../types.ts'
import type { View } from './view.ts'

const PAGE_ROWS = 200
const PAGE_CELLS = 20_000

/** How many rows are fetched at once: fewer of very wide ones. */
export function pageRows(columns: number): number {
  return Math.max(10, Math.min(PAGE_ROWS, Math.floor(PAGE_CELLS / Math.max(1, columns))))
}

export interface Pages {
  /** A row, or undefined while its page is on the way. */
  at: (row: number) => Cell[] | undefined
  loaded: Cell[][]
  fetching: boolean
  /** Whether nothing of this view has come yet. */
  unsettled: boolean
  error: Error | null
}

/** How many rows a view has; null until the server has said so. */
export function useCount(result: Result, view: View, matching: number | undefined): number | null {
  const whole = result.row_count ?? result.rows?.length ?? 0
  const filters = JSON.stringify(view.filters)
  const [known, setKnown] = useState<{ filters: string; count: number } | null>(null)
  useEffect(() => {
    if (matching !== undefined) setKnown({ filters, count: matching })
  }, [filters, matching])
  if (view.filters.length === 0) return whole
  return known?.filters === filters ? known.count : null
}

/** The rows around what is in view, page by page from the backend, neighbours fetched ahead. */
export function useRows(
  id: string,
  result: Result,
  shown: { first: number; end: number },
  view: View,
  count: number,
): Pages & { matching: number | undefined } {
  const head = result.rows ?? []
  const size = pageRows(result.columns?.length ?? 0)
  const plain = view.sort === null && view.filters.length === 0
  // A small result came whole with the run: nothing is left to fetch until it is sorted.
  const whole = plain && head.length >= count
  const last = Math.max(0, Math.ceil(count / size) - 1)
  const from = Math.max(0, Math.floor(shown.first / size) - 1)
  const to = Math.min(last, Math.floor(Math.max(0, shown.end - 1) / size) + 1)
  const numbers = whole ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const pages = useQueries({
    queries: numbers.map((page) => ({
      queryKey: ['rows', id, view.sort, view.filters, page],
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Rows> =>
        fetchRows(id, { offset: page * size, limit: size }, view, signal),
      placeholderData: plain ? undefined : keepPreviousData,
      gcTime: 60_000,
    })),
  })
  const byNumber = new Map(numbers.map((page, index) => [page, pages[index]?.data?.rows]))
  const at = (row: number): Cell[] | undefined =>
    byNumber.get(Math.floor(row / size))?.[row % size] ?? (plain ? head[row] : undefined)
  const stamp = pages.map((page) => page.dataUpdatedAt).join()
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- `stamp` stands for the pages' contents
  const loaded = useMemo(() => [...head, ...pages.flatMap((page) => page.data?.rows ?? [])], [id, stamp])
  const told = pages.find((page) => page.data && !page.isPlaceholderData)?.data
  return {
    at,
    loaded,
    fetching: pages.some((page) => page.isFetching),
    unsettled: !plain && pages.length > 0 && pages.every((page) => page.isPending || page.isPlaceholderData),
    error: pages.find((page) => page.error)?.error ?? null,
    matching: told?.matching_rows,
  }
}

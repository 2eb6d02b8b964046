import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'

import type { Sort } from './api.ts'
import { fetchRows } from './api.ts'
import type { Cell, Result } from './types.ts'

export const PAGE_ROWS = 200

export interface Pages {
  /** A row, or undefined while its page is on the way. */
  at: (row: number) => Cell[] | undefined
  loaded: Cell[][]
  fetching: boolean
  error: Error | null
}

/** The rows around the view, page by page from the backend, neighbours fetched ahead. */
export function useRows(id: string, result: Result, first: number, end: number, sort: Sort | null): Pages {
  const head = result.rows ?? []
  const count = result.row_count ?? head.length
  // A small result came whole with the run: nothing is left to fetch until it is sorted.
  const whole = sort === null && head.length >= count
  const last = Math.max(0, Math.ceil(count / PAGE_ROWS) - 1)
  const from = Math.max(0, Math.floor(first / PAGE_ROWS) - 1)
  const to = Math.min(last, Math.floor(Math.max(0, end - 1) / PAGE_ROWS) + 1)
  const numbers = whole ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const pages = useQueries({
    queries: numbers.map((page) => ({
      queryKey: ['rows', id, sort?.column ?? null, sort?.descending ?? null, page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        fetchRows(id, page * PAGE_ROWS, PAGE_ROWS, sort, signal),
      placeholderData: keepPreviousData,
      gcTime: 60_000,
    })),
  })
  const byNumber = new Map(numbers.map((page, index) => [page, pages[index]?.data?.rows]))
  const at = (row: number): Cell[] | undefined => {
    const page = byNumber.get(Math.floor(row / PAGE_ROWS))
    return page?.[row % PAGE_ROWS] ?? (sort === null ? head[row] : undefined)
  }
  const stamp = pages.map((page) => page.dataUpdatedAt).join()
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- `stamp` stands for the pages' contents
  const loaded = useMemo(() => [...head, ...pages.flatMap((page) => page.data?.rows ?? [])], [id, stamp])
  return {
    at,
    loaded,
    fetching: pages.some((page) => page.isFetching),
    error: pages.find((page) => page.error)?.error ?? null,
  }
}

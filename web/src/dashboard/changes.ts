export { BookPage } from './BookPage.tsx'
export { CancelPage } from './CancelPage.tsx'
export { MovePage } from './MovePage.tsx'

import type { BookableClasses, MemberClass } from '@robokids/contracts/member-classes'
import { answer } from '../api/answer.ts'
import bookableClassesShape from '../api/answers/bookable-classes.json'
import memberClassShape from '../api/answers/member-class.json'

export const bookableClasses = answer<BookableClasses>(bookableClassesShape)
export const memberClass = answer<MemberClass>(memberClassShape)

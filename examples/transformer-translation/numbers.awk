# Pairs where no files and no catalogues are at hand: numbers in English and in German words, none
# twice. awk -v count=30000 -v english=FILE -v german=FILE -f numbers.awk
function below_hundred_en(n) {
    return n < 20 ? en[n] : tens_en[int(n / 10)] (n % 10 ? "-" en[n % 10] : "")
}
function below_thousand_en(n,    words) {
    words = n >= 100 ? en[int(n / 100)] " hundred" : ""
    if (n % 100) words = words (words == "" ? "" : " and ") below_hundred_en(n % 100)
    return words
}
function in_english(n,    words) {
    if (n == 0) return en[0]
    words = n >= 1000 ? below_thousand_en(int(n / 1000)) " thousand" : ""
    if (n % 1000) words = words (words == "" ? "" : n % 1000 < 100 ? " and " : " ") below_thousand_en(n % 1000)
    return words
}
# "ein" stands within a word, "eins" at its end.
function below_hundred_de(n, last) {
    if (n == 1 && !last) return "ein"
    if (n < 20) return de[n]
    return (n % 10 ? (n % 10 == 1 ? "ein" : de[n % 10]) "und" : "") tens_de[int(n / 10)]
}
function below_thousand_de(n, last) {
    return (n >= 100 ? (n < 200 ? "ein" : de[int(n / 100)]) "hundert" : "") \
        (n % 100 ? below_hundred_de(n % 100, last) : "")
}
function in_german(n) {
    if (n == 0) return de[0]
    return (n >= 1000 ? below_thousand_de(int(n / 1000), 0) "tausend" : "") \
        (n % 1000 ? below_thousand_de(n % 1000, 1) : "")
}
BEGIN {
    split("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", en, " ")
    split("eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn", de, " ")
    split("ten twenty thirty forty fifty sixty seventy eighty ninety", tens_en, " ")
    split("zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", tens_de, " ")
    en[0] = "zero"
    de[0] = "null"
    state = 1
    while (made < count) {
        state = (state * 16807) % 2147483647 # Park and Miller: the same numbers in every awk
        n = state % 1000000
        if (n in seen) continue
        seen[n] = 1
        made++
        print in_english(n) >english
        print in_german(n) >german
    }
}

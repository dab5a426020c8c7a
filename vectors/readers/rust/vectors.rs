// SPDX-License-Identifier: Apache-2.0
//! Checks an implementation against the bits of a backend:
//!   cargo run -- quantize.json --backend onnx@1.32-vnni
//! `implement` gets a group and returns the words of each output, the bits of its elements in hexadecimal (any NaN is "nan"), or
//! None for a group that it does not implement.
use serde_json::Value;
use std::collections::HashMap;
use std::process::ExitCode;

mod onnx_quantize;
use onnx_quantize::implement;

/// True if `short` is `name`, or its beginning before @ or -.
fn covers(short: &str, name: &str) -> bool {
    name.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '-']))
}

/// Returns {output: words} of the row with the longest name that covers the backend; None if that has no bits.
fn expected(group: &Value, backend: &str) -> Option<HashMap<String, Vec<String>>> {
    let mut best = (0, &Value::Null);
    for row in group["results"].as_array().into_iter().flatten() {
        for short in row["backends"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if covers(short, backend) && short.len() > best.0 {
                best = (short.len(), row);
            }
        }
    }
    let words = |bits: &Value| bits.as_str().unwrap_or("").split(' ').map(String::from).collect();
    Some(best.1["bits"].as_object()?.iter().map(|(output, bits)| (output.clone(), words(bits))).collect())
}

/// Returns a sentence about the first element that differs.
fn difference(group: &Value, wanted: &HashMap<String, Vec<String>>, found: &HashMap<String, Vec<String>>) -> Option<String> {
    let id = group["id"].as_str().unwrap_or("");
    for (output, words) in wanted {
        let got = found.get(output).cloned().unwrap_or_default();
        if got.len() != words.len() {
            return Some(format!("{id}: {output} has {} elements, wanted {}", got.len(), words.len()));
        }
        if let Some(i) = (0..got.len()).find(|&i| got[i] != words[i]) {
            return Some(format!("{id}: {output}[{i}] is {}, wanted {} ({})", got[i], words[i], group["about"].as_str().unwrap_or("")));
        }
    }
    None
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (Some(path), named) = (words.first(), words.iter().position(|word| word == "--backend")) else {
        eprintln!("usage: vectors FILE.json [--backend NAME]");
        return ExitCode::from(2);
    };
    let backend = named.and_then(|i| words.get(i + 1)).map_or("core", String::as_str);
    let content: Value = serde_json::from_slice(&std::fs::read(path).expect("the file can be read")).expect("the file is JSON");
    if !content["versions"].as_array().is_some_and(|all| all.iter().any(|name| name == backend)) {
        eprintln!("{path}: no backend {backend}");
        return ExitCode::from(2);
    }
    let (mut equal, mut differ, mut skipped) = (0, 0, 0);
    for group in content["groups"].as_array().into_iter().flatten() {
        let Some(wanted) = expected(group, backend) else { continue };
        match implement(group).map(|found| difference(group, &wanted, &found)) {
            None => skipped += 1,
            Some(None) => equal += 1,
            Some(Some(sentence)) => {
                differ += 1;
                println!("{sentence}");
            }
        }
    }
    println!("{backend}: {equal} groups equal, {differ} differ, {skipped} not implemented");
    ExitCode::from(if equal + differ == 0 { 2 } else { u8::from(differ > 0) })
}
